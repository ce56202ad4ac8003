import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { collect, until } from './binary.ts'
import { temporaryFolder } from './folder.ts'
import type { Page } from './page.ts'
import { freePort } from './port.ts'
import { ROOT } from './source.ts'

/** Only when asked for, with `TEST_GO=1`: a first build takes minutes. */
export const GO = process.env.TEST_GO === '1' ? Bun.which('go') : null

/** The words that run the programs of pages, by language. */
const RUNNERS: Record<string, { program: string | null; file: string }> = {
  ts: { program: process.execPath, file: 'shown.ts' },
  js: { program: Bun.which('node') ?? process.execPath, file: 'shown.mjs' },
  python: { program: Bun.which('python3'), file: 'shown.py' },
  go: { program: GO, file: 'main.go' },
}

export const canRun = (language: string): boolean => (RUNNERS[language]?.program ?? null) !== null

interface Program {
  language: string
  text: string
  env: Record<string, string>
  port?: number
  /** For Go: the libraries that it uses, as lines of go.mod. */
  requires?: string
}

/** Runs a server as a process of its own that gets its port in `PORT`. Ends with the scope. */
export async function startProgram(given: Program) {
  const { language, text, env, port = freePort(), requires = '' } = given
  const folder = temporaryFolder()
  const cwd = folder.path
  const { program, file } = RUNNERS[language] as { program: string; file: string }
  await Bun.write(join(cwd, file), text)
  let words = [program, file]
  if (language === 'js') symlinkSync(join(ROOT, 'node_modules'), join(cwd, 'node_modules'))
  if (language === 'go') {
    await Bun.write(join(cwd, 'go.mod'), `module receiver\n\ngo 1.22\n${requires}`)
    const offline = { GOFLAGS: '-mod=mod', GOPROXY: 'off', GOSUMDB: 'off' }
    const build = [program, 'build', '-o', 'receiver', '.']
    const { success, stderr } = Bun.spawnSync(build, { cwd, env: { ...process.env, ...offline } })
    if (!success) throw new Error(`${stderr}`)
    words = ['./receiver']
  }
  const child = Bun.spawn(words, {
    cwd,
    env: { PATH: process.env.PATH, ...env, PORT: `${port}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err] = [collect(child.stdout), collect(child.stderr)]
  const url = `http://127.0.0.1:${port}`
  const isUp = () => fetch(url).then(Boolean, () => child.exitCode !== null)
  await until(isUp, () => err.text)
  if (child.exitCode !== null) throw new Error(`did not start: ${err.text}`)
  return {
    url,
    printed: () => out.text,
    [Symbol.asyncDispose]: async () => {
      child.kill()
      await child.exited
      folder[Symbol.dispose]()
    },
  }
}

/** Runs the server that a page shows in the block with `words`. */
export const startShown = (
  page: Page,
  { words, ...rest }: Omit<Program, 'text'> & { words: string },
) => startProgram({ ...rest, text: page.block(rest.language, words) })
