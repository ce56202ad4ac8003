import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder that is gone when the scope ends: `using folder = temporaryFolder()`. */
export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-test-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
