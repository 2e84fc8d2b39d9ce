/** Texts longer than this are read in full at both ends; in the middle only letters count. */
export const maxRead = 8_000;
export const [other, letter, digit] = [0, 1, 2] as const;
/** The class of each UTF-16 unit; those beyond ASCII count as letters, apart from arrows, boxes, bars and spinners. */
const classes = new Uint8Array(65_536)
  .fill(letter, 128)
  .fill(other, 0x21_90, 0x22_00)
  .fill(other, 0x25_00, 0x25_a0)
  .fill(other, 0x28_00, 0x29_00);
for (let code = 0; code < 128; code += 1) {
  if (code >= 48 && code <= 57) classes[code] = digit;
  else if ((code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95) classes[code] = letter;
}

export const classOf = (code: number): number => classes[code] as number;
