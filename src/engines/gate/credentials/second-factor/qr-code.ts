import { encodeQR } from 'qr'
import { monochromePng } from './png.ts'

/** Width and height in pixels. */
const SIDE = 256

/** Width of the white margin in modules (ISO/IEC 18004). */
const QUIET_ZONE = 4

/** Cameras cannot distinguish smaller modules. */
const MIN_PIXELS = 2

/** A PNG data URL, 256 pixels square with the quiet zone. Throws for more than 997 bytes. */
export function qrCode(text: string): string {
  const modules = encodeQR(text, 'raw', { ecc: 'medium', border: QUIET_ZONE })
  const pixels = Math.floor(SIDE / modules.length)
  if (pixels < MIN_PIXELS) throw new Error('too long for a QR code of this size')

  const wide = modules.map((row) => enlarged(row, pixels, false))
  const rows = enlarged(wide, pixels, Array<boolean>(SIDE).fill(false))
  return `data:image/png;base64,${monochromePng(rows).toString('base64')}`
}

/** Repeats each item, centered within the side of the image. */
function enlarged<T>(line: T[], times: number, margin: T): T[] {
  const around = SIDE - line.length * times
  const before = Array<T>(Math.floor(around / 2)).fill(margin)
  const after = Array<T>(Math.ceil(around / 2)).fill(margin)
  return [...before, ...line.flatMap((each) => Array<T>(times).fill(each)), ...after]
}
