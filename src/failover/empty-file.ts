/** Size of the file: header, end of pages, empty index and trailer. */
const BYTES = 131
const HEADER_BYTES = 100
const NO_CHECKSUM = 2
/** Bytes of the header of a write-ahead log. */
const LOG_HEADER_BYTES = 32n

/** CRC-64 of ISO 3309, reflected. */
const POLYNOMIAL = 0xd800000000000000n
const ALL_BITS = 0xffffffffffffffffn
/** Marks a number as a checksum. */
const IS_CHECKSUM = 1n << 63n

/** The state of a database whose write-ahead log has just begun. */
export interface LogBeginning {
  pageSize: number
  pages: number
  /** The two salts in the header of the log. */
  salts: readonly [number, number]
}

/**
 * A file of Litestream (LTX version 3) that changes nothing. As the first of a new path it makes
 * Litestream continue a database at the beginning of its log, instead of uploading all of it.
 * `txid` is the number of the transaction, one more than that of the last file of the earlier path.
 */
export function emptyFile(txid: bigint, now: number, beginning: LogBeginning): Buffer {
  const { pageSize, pages, salts } = beginning
  const file = Buffer.alloc(BYTES)
  file.write('LTX1')
  file.writeUInt32BE(NO_CHECKSUM, 4)
  file.writeUInt32BE(pageSize, 8)
  file.writeUInt32BE(pages, 12)
  file.writeBigUInt64BE(txid, 16)
  file.writeBigUInt64BE(txid, 24)
  file.writeBigUInt64BE(BigInt(now), 32)
  file.writeBigUInt64BE(LOG_HEADER_BYTES, 48)
  file.writeUInt32BE(salts[0], 64)
  file.writeUInt32BE(salts[1], 68)
  // Six bytes of zeros end the pages; the index has one byte, and then its size.
  file.writeBigUInt64BE(1n, HEADER_BYTES + 7)
  const checksum = crc64(file.subarray(0, BYTES - 8)) | IS_CHECKSUM
  file.writeBigUInt64BE(checksum, BYTES - 8)
  return file
}

function crc64(bytes: Uint8Array): bigint {
  let crc = ALL_BITS
  for (const byte of bytes) {
    crc ^= BigInt(byte)
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ POLYNOMIAL : crc >> 1n
  }
  return crc ^ ALL_BITS
}

/** How Litestream writes the number of a transaction. */
export const txidText = (txid: bigint): string => txid.toString(16).padStart(16, '0')

/** The name of a file of Litestream with one transaction. */
export const nameOfFile = (txid: bigint): string => `${txidText(txid)}-${txidText(txid)}.ltx`
