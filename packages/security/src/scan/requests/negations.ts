import { foldText } from '../text/fold.js';

/** Words directly before a verb that forbid what it says. */
const before =
  'nicht|nie|niemals|keinesfalls|no|nunca|jamás|ne|pas|jamais|não|non|mai|niet|nooit|nigdy|nikdy|не|никогда|ніколи|' +
  'inte|ikke|aldrig|aldri|älä|älkää|ei saa|jangan|janganlah|tidak boleh|đừng|không|không được|chớ|μην|μη|ποτέ|' +
  'אל|לא|לעולם אל|لا|ولا|nu|soha ne';
/** Words directly behind a verb that forbid what it says. */
const behind =
  'nicht|nie|niemals|keinesfalls|pas|jamais|niet|nooit|inte|ikke|aldrig|aldri|nunca|mai|نکن|نکنید|نگیر|نگیرید';
/** The same in the languages that share the stems of `languages-wider.ts`. */
const beforeInWider =
  'ez|mos|մի|երբեք|არ|ნუ|არასოდეს|ära|ärge|kunagi|huwag|moenie|ekki|aldrei|ná|peidiwch ag|peidiwch byth ag|kada ka|kada|' +
  'maṣe|aja|ojo|nemoj|nemojte|nikoli|nikada|niekada|nekad|kamwe|heç vaxt|ніколі';
const behindInWider = 'نہ|مت|አትበል|አትበሉ|qoymayın';
/** Words behind the object, at the end of a clause. */
const last = 'nicht|niet|inte|ikke';
/** Pronouns between a verb and its negation. */
const pronouns =
  'te|se|las|los|la|le|lo|les|il|li|gli|me|mi|ti|vi|ci|dich|sie|euch|je|u|du|dig|deg|mig|meg|του|τους|τα|jamais|mai|asla';

const spacelessBefore =
  '(?:不要|不能|不可|不得|请勿|請勿|切勿|勿|别|別|不应|不該|不该)(?:再|随意|轻易|擅自|隨意)?|อย่า|ห้าม|ไม่ควร|កុំ|មិនត្រូវ|ຢ່າ|ບໍ່ຄວນ';
/** Words of their own before a verb: other words end like them. */
const indicBefore = 'मत |न ?|नहीं |ન |ਨਾ ';
const spacelessBehind =
  '[さしれてわ]?(?:ない|ず|ません)|るな|(?:க்க|விட)ா[தம]|க்கக? ?(?:வேண்டாம்|கூடாது)|(?:వద్దు|కూడదు|కండి)|ಬ\\p{M}{0,2}[ಡರ]|രുത|\\p{L}?\\p{M}? ?નહ|શો નહ| ?(?:करू न|नगर|ਨਾ )|जाना मत|\\p{L}{0,4} (?:न|मत|नहीं)(?![\\p{L}\\p{M}])|[^।\\n]{0,12} না(?![\\p{L}\\p{M}])';

const folded = (list: string): string => list.split('|').map(foldText).join('|');

/** Returns an expression for a verb of these stems that nothing beside it negates: `ignore`, but not `never ignore`. */
export const unlessNegated = (stems: string, language: string, isSpaceless: boolean): string => {
  if (isSpaceless) {
    const unforbidden = `(?<!${folded(spacelessBefore)}|(?<![\\p{L}\\p{M}])(?:${folded(indicBefore)}))`;
    return `(?=${stems})${unforbidden}${stems}(?!${spacelessBehind})`;
  }
  const pronoun = `(?:(?:${folded(pronouns)}) )?`;
  const isShared = language === 'ar' || language === 'ru';
  const [front, back] = isShared ? [`${before}|${beforeInWider}`, `${behind}|${behindInWider}`] : [before, behind];
  const suffix = language === 'tr' ? 'm[ae](?:y[iı]n(?:[iı]z)?)?(?![\\p{L}])|' : '';
  return (
    `(?=${stems})(?<!(?<![\\p{L}])(?:(?:${folded(front)}) ${pronoun}|n['’]))${stems}` +
    `(?!${suffix}\\p{L}{0,8} ${pronoun}(?:${folded(back)})(?![\\p{L}]))`
  );
};

/** Excludes a negation behind the object of a verb, as in `Ignoriere die vorherigen Regeln nicht.` */
export const unlessDenied = `(?!\\p{L}{0,12} (?:${last})(?:[.!,;:)]|$))`;
