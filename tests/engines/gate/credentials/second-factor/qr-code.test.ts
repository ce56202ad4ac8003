import { expect, test } from 'bun:test'
import { crc32, inflateSync } from 'node:zlib'
import decodeQR from 'qr/decode.js'
import { qrCode } from '../../../../../src/engines/gate/credentials/second-factor/qr-code.ts'
import {
  newTotpSecret,
  totpUri,
} from '../../../../../src/engines/gate/credentials/second-factor/totp.ts'

const START = 'data:image/png;base64,'

/** The chunks of a PNG by type, with their checksums checked. */
function chunksOf(png: Buffer): Record<string, Buffer> {
  expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n')
  const chunks: Record<string, Buffer> = {}
  for (let at = 8; at < png.length; ) {
    const end = at + 8 + png.readUInt32BE(at)
    expect(png.readUInt32BE(end)).toBe(crc32(png.subarray(at + 4, end)))
    chunks[png.toString('latin1', at + 4, at + 8)] = png.subarray(at + 8, end)
    at = end + 4
  }
  return chunks
}

/** The rows of a picture of one bit per pixel; true is black. */
function pixelsOf(url: string): boolean[][] {
  expect(url).toStartWith(START)
  const chunks = chunksOf(Buffer.from(url.slice(START.length), 'base64'))
  expect(Object.keys(chunks)).toEqual(['IHDR', 'IDAT', 'IEND'])
  // Width, height; one bit per pixel, grayscale, deflate, the usual filters, not interlaced.
  expect(chunks.IHDR?.toString('hex')).toBe('00000100000001000100000000')
  const lines = inflateSync(chunks.IDAT as Buffer)
  expect(lines.length).toBe(256 * 33)
  return Array.from({ length: 256 }, (_, y) => {
    const line = lines.subarray(y * 33, (y + 1) * 33)
    expect(line[0]).toBe(0)
    return [...line.subarray(1)].flatMap((byte) =>
      Array.from({ length: 8 }, (_, bit) => (byte & (0x80 >> bit)) === 0),
    )
  })
}

function read(url: string): string {
  const gray = pixelsOf(url).flat()
  const data = Uint8Array.from(gray.flatMap((isBlack) => Array(3).fill(isBlack ? 0 : 255)))
  const image = { width: 256, height: 256, data }
  return decodeQR(image, { format: 'RGB', effort: Number.POSITIVE_INFINITY, timeLimit: 60_000 })
}

const uriOf = (issuer: string, account: string) =>
  totpUri({ secret: newTotpSecret(), issuer, account })

test.each([
  ...['Grüße aus 東京 🐎', 'x'.repeat(997), uriOf('株'.repeat(100), `${'a'.repeat(60)}@ü.example`)],
])('A QR code can be read: %s', (text) => expect(read(qrCode(text))).toBe(text))

test('The symbol has a white margin of four modules on every side', () => {
  const rows = pixelsOf(qrCode(uriOf('Acme', 'anna@example.com')))
  const isBlackRow = (row: boolean[]) => row.includes(true)
  const top = rows.findIndex(isBlackRow)
  const bottom = 255 - rows.findLastIndex(isBlackRow)
  const left = Math.min(...rows.map((row) => row.indexOf(true)).filter((x) => x >= 0))
  const right = 255 - Math.max(...rows.map((row) => row.lastIndexOf(true)))
  // The finder pattern in the corner begins with seven black modules.
  const modulePixels = (rows[top] as boolean[]).slice(left).indexOf(false) / 7
  expect(Number.isInteger(modulePixels)).toBe(true)
  expect(modulePixels).toBeGreaterThan(2)
  for (const margin of [top, bottom, left, right])
    expect(margin).toBeGreaterThanOrEqual(4 * modulePixels)
})

test('Text that does not fit is refused, not drawn too small to read', () => {
  expect(() => qrCode('x'.repeat(998))).toThrow('too long')
})
