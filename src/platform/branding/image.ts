import { createHash } from 'node:crypto'
import { invalid } from '../errors.ts'

/** Types of images that can't contain scripts and that all browsers show. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp'] as const
export type ImageType = (typeof IMAGE_TYPES)[number]

export interface ImageHeader {
  type: ImageType
  width: number
  height: number
}

/** The maximum size of a logo in bytes. */
export const MAX_LOGO_BYTES = 256 * 1024
/** The minimum and maximum width and height of a logo in pixels: a decoded one takes 16 MB at most. */
export const MIN_LOGO_PIXELS = 16
export const MAX_LOGO_PIXELS = 2048

/**
 * Reads the type and dimensions of a logo from its first bytes, whatever its name claims. Throws
 * `invalid` for another type, and for one that is too large; nothing is decoded.
 */
export function checkedImage(bytes: Uint8Array, field: string): ImageHeader {
  if (bytes.byteLength === 0) throw invalid('must be an image', { field, rule: 'required' })
  if (bytes.byteLength > MAX_LOGO_BYTES)
    throw invalid(`must be at most ${MAX_LOGO_BYTES / 1024} KB`, { field, rule: 'too_large' })
  const header = headerOf(bytes)
  if (!header)
    throw invalid('must be a PNG, JPEG or WebP image. Export other formats, such as SVG, as PNG', {
      field,
      rule: 'format',
    })
  const { width, height } = header
  if (Math.min(width, height) < MIN_LOGO_PIXELS || Math.max(width, height) > MAX_LOGO_PIXELS)
    throw invalid(
      `must be ${MIN_LOGO_PIXELS} to ${MAX_LOGO_PIXELS} pixels wide and high, not ${width} × ${height}`,
      { field, rule: 'range' },
    )
  return header
}

/** Address of an image by its content. */
export const imageHash = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

/** Decodes strict base64. Throws `invalid`. */
export function bytesIn(base64: string, field: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.fromBase64(base64)
  } catch {
    throw invalid('must be base64', { field, rule: 'format' })
  }
}

/** For rows of an import. Throws `invalid` unless the row describes its image. */
export function checkLogo(row: ImageHeader & { hash: string; data: string }) {
  const bytes = bytesIn(row.data, 'data')
  const { type, width, height } = checkedImage(bytes, 'data')
  const isDescribed = row.type === type && row.width === width && row.height === height
  if (!isDescribed || row.hash !== imageHash(bytes))
    throw invalid('must have the type, dimensions and hash of its row', {
      field: 'data',
      rule: 'mismatch',
    })
}

function headerOf(bytes: Uint8Array): ImageHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    return pngIn(view) ?? jpegIn(view) ?? webpIn(view)
  } catch (error) {
    // The image ends within its header.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const PNG_SIGNATURE = 0x89504e470d0a1a0an
const IHDR = 0x49484452

function pngIn(view: DataView): ImageHeader | undefined {
  if (view.getBigUint64(0) !== PNG_SIGNATURE || view.getUint32(12) !== IHDR) return undefined
  return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) }
}

/** Segments have a marker and a length; the first frame header has the dimensions. */
function jpegIn(view: DataView): ImageHeader | undefined {
  if (view.getUint16(0) !== 0xffd8) return undefined
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1)
    if (isFrame(marker))
      return { type: 'image/jpeg', height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
    // Bytes may be filled up with 0xff before a marker.
    at += marker === 0xff ? 1 : 2 + Math.max(2, view.getUint16(at + 2))
  }
  return undefined
}

/** SOF0 to SOF15 without DHT, JPG and DAC, which have numbers in between. */
const isFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

const RIFF = 0x52494646
const WEBP = 0x57454250
const [VP8, VP8L, VP8X] = [0x56503820, 0x5650384c, 0x56503858]

/** Three kinds of WebP: lossy, lossless, and extended. Their numbers are little-endian. */
function webpIn(view: DataView): ImageHeader | undefined {
  if (view.getUint32(0) !== RIFF || view.getUint32(8) !== WEBP) return undefined
  const kind = view.getUint32(12)
  const type = 'image/webp'
  if (kind === VP8)
    return {
      type,
      width: view.getUint16(26, true) & 0x3fff,
      height: view.getUint16(28, true) & 0x3fff,
    }
  if (kind === VP8L) {
    const bits = view.getUint32(21, true)
    return { type, width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
  }
  if (kind !== VP8X) return undefined
  const at = (start: number) => (view.getUint32(start, true) & 0xffffff) + 1
  return { type, width: at(24), height: at(27) }
}
