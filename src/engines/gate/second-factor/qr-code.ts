import { encodeQR } from 'qr'
import { monochromePng } from './png.ts'

/** Pixels. */
const SIDE = 256

/** ISO/IEC 18004: so many modules around the symbol stay white. */
const QUIET_ZONE = 4

/** Cameras do not tell smaller ones apart. */
const FEWEST_PIXELS = 2

/**
 * A QR code as a data URL of a PNG, 256 pixels square with its quiet zone. Throws for more than
 * 997 bytes of text: there is no room for such.
 */
export function qrCode(text: string): string {
  const modules = encodeQR(text, 'raw', { ecc: 'medium', border: QUIET_ZONE })
  const pixels = Math.floor(SIDE / modules.length)
  if (pixels < FEWEST_PIXELS) throw new Error('too long for a QR code of this size')

  const wide = modules.map((row) => enlarged(row, pixels, false))
  const rows = enlarged(wide, pixels, Array<boolean>(SIDE).fill(false))
  return `data:image/png;base64,${monochromePng(rows).toString('base64')}`
}

/** Each so many times, in the middle of as many as a side of the picture has. */
function enlarged<T>(line: T[], times: number, margin: T): T[] {
  const around = SIDE - line.length * times
  const before = Array<T>(Math.floor(around / 2)).fill(margin)
  const after = Array<T>(Math.ceil(around / 2)).fill(margin)
  return [...before, ...line.flatMap((each) => Array<T>(times).fill(each)), ...after]
}
