/** What can be told about an executable without starting it. */
import { readFileSync } from 'node:fs'
import type { Target } from './targets.ts'

const MAGIC = { elf: '7f454c46', macho64: 'cffaedfe' }
const ELF_MACHINES: Record<number, string> = { 62: 'ELF x86-64', 183: 'ELF aarch64' }
const MACHO_CPUS: Record<number, string> = { 16777223: 'Mach-O x86-64', 16777228: 'Mach-O arm64' }

/** What a header says it is for. */
export function formatOf(bytes: Buffer): string {
  const magic = bytes.subarray(0, 4).toString('hex')
  if (magic === MAGIC.elf) return ELF_MACHINES[bytes.readUInt16LE(18)] ?? 'ELF'
  if (magic === MAGIC.macho64) return MACHO_CPUS[bytes.readUInt32LE(4)] ?? 'Mach-O'
  return 'no executable'
}

/** Throws unless the file is for the target's machine and has our bundle in it. */
export function inspect(file: string, target: Target, commit: string) {
  const bytes = readFileSync(file)
  const format = formatOf(bytes)
  if (format !== target.format) throw new Error(`${file}: ${format}, not ${target.format}`)
  if (!holdsText(bytes, `"${commit}"`)) throw new Error(`${file}: not compiled from ${commit}`)
  return { format, bytes: bytes.length }
}

/** A bundle with any character beyond Latin-1 lies in the file as UTF-16. */
const holdsText = (bytes: Buffer, text: string) =>
  bytes.includes(Buffer.from(text, 'utf8')) || bytes.includes(Buffer.from(text, 'utf16le'))
