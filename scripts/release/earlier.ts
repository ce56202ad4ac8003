import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** What the files of a release are called, also one that was being compiled when it was stopped. */
const OURS = /^(gatehouse-\d+\.\d+\.\d+.*|NOTES\.md|SHA256SUMS)$/

/** Takes away an earlier release: `gatehouse-*` is published, and all of that has a checksum. */
export function removeEarlier(folder: string): void {
  const names = readNames(folder).filter((name) => OURS.test(name))
  for (const name of names) rmSync(join(folder, name), { recursive: true })
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
