import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fold, foldText } from './fold.js';
import { markers, scripts } from './languages.js';
import { LANGUAGES, languageBit } from './lexicon.js';
import { sentencesOf } from './sentences.js';

/** Returns the bits of the languages that a text is read in. */
const languagesOf = (text: string): number =>
  sentencesOf(text, fold(text)).reduce((bits, { second }) => bits | (second & LANGUAGES), 0);

describe('languages', () => {
  it.each([
    ['de', 'Der Server liest die Datei nicht.'],
    ['es', 'El servidor lee los archivos de la carpeta.'],
    ['fr', 'Le serveur ne lit pas les fichiers.'],
    ['pt', 'O servidor não lê os arquivos da pasta.'],
    ['it', 'Il server non legge gli archivi della cartella.'],
    ['nl', 'De server leest het bestand niet van je schijf.'],
    ['pl', 'Serwer nie czyta tego pliku przez sieć.'],
    ['tr', 'Sunucu bu dosyayı okumaz ve siler.'],
    ['ru', 'Сервер читает файл.'],
    ['ar', 'يقرأ الخادم الملف.'],
    ['hi', 'सर्वर फ़ाइल पढ़ता है।'],
    ['zh', '服务器读取文件。'],
    ['ja', 'サーバーはファイルを読みます。'],
    ['ko', '서버가 파일을 읽습니다.'],
  ])('are found in a sentence: %s', (language, sentence) => {
    expect(languagesOf(sentence) & languageBit(language)).not.toBe(0);
  });

  it('are not found in English documents', () => {
    for (const name of ['README.md', 'threat-model.md', 'training/README.md']) {
      const text = readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
      const foreign = sentencesOf(text, fold(text)).filter(({ second }) => (second & LANGUAGES) !== 0);
      expect(foreign.map(({ joined }) => joined)).toEqual([]);
    }
  });

  it('have markers in folded form, each once in a language', () => {
    for (const words of Object.values(markers)) {
      const all = words.split(/\s+/);
      expect(all.filter((word) => foldText(word) !== word)).toEqual([]);
      expect(all.filter((word, index) => all.indexOf(word) !== index)).toEqual([]);
    }
  });

  it('have scripts that do not overlap, in their order', () => {
    for (const [index, [first, last]] of scripts.entries()) {
      expect(first).toBeLessThanOrEqual(last);
      expect(first).toBeGreaterThan(scripts[index - 1]?.[1] ?? -1);
    }
  });
});
