import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from '../../scripts/build.ts'
import { temporaryFolder } from './installation.ts'
import { fromRoot } from './server.ts'

const COMMIT = 'bench'

/** The program, compiled from the sources as they are now. */
export async function compileProgram(stack: AsyncDisposableStack): Promise<string> {
  const outfile = join(temporaryFolder(stack), 'gatehouse')
  await compile({ outfile, commit: COMMIT })
  return outfile
}

/** A floor of `bench/floor`, compiled the same way by the same Bun. */
export async function compileFloor(stack: AsyncDisposableStack, name: string): Promise<string> {
  const outfile = join(temporaryFolder(stack), name)
  const entrypoint = fromRoot('bench', 'floor', `${name}.ts`)
  await compile({ outfile, commit: COMMIT, entrypoint })
  return outfile
}

/** The same executable in a file of its own: processes of one file share its pages. */
export function copyExecutable(stack: AsyncDisposableStack, executable: string): string {
  const copy = join(temporaryFolder(stack), 'gatehouse')
  copyFileSync(executable, copy)
  return copy
}
