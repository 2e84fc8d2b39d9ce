import { foldText } from '../text/fold.js';
import { once } from '../text/once.js';

/** Beginnings of words for getting something, before the address where one gets it. */
const before =
  'get obtain obten obtien obtuv obtid consig consegu encontr encuentr recib récup trouv otten ottien trov ricev ' +
  'erhält erhalt bekomm find krijg vind haal otrzym znajd uzysk получ найд отрим знайд hitta dostan získ didapat diperoleh';
/** Parts of words for the same, behind the address, in languages with the verb at the end. */
const behind = '获取 获得 申请 獲取 取得 発行 入手 발급 받은 aldığ alın';

const alternatives = (words: string): string => foldText(words).split(' ').join('|');

const obtained = once(
  () =>
    new RegExp(
      String.raw`(?<!\p{L})(?:${alternatives(before)})\p{L}{0,20}(?:[ ,]+(?!https?\b)[\p{L}']{1,20}){0,3}[ ,:]+https?\b|` +
        String.raw`https?\b[^\n。]{0,100}?(?:${alternatives(behind)})`,
      'u',
    ),
);

/** Whether a folded sentence names an address as the place where something is obtained: `the key that you get at https://…`. */
export const isObtainedThere = (sentence: string): boolean => sentence.includes('http') && obtained().test(sentence);
