import { join } from 'node:path'
import { BINARY } from './binary.ts'

export const ROOT = join(import.meta.dir, '..', '..')
const MAIN = join(ROOT, 'src', 'main.ts')

/**
 * The words that start Gatehouse: the executable where it was compiled for the tests, else the
 * sources, which need the settings of the checkout in any folder.
 */
export const PROGRAM = process.env.TEST_COMPILED
  ? [BINARY]
  : [process.execPath, `--tsconfig-override=${join(ROOT, 'tsconfig.json')}`, MAIN]
