/**
 * Starts an executable as its first user does: elsewhere, with an empty environment, without a file.
 * `bun scripts/release/smoke.ts FILE` does it on a machine that the release was not made on.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const STARTING_MS = 20_000

/** Throws when it does not tell its version, check a configuration, serve, or end when it is told to. */
export async function smoke(executable: string, version: string): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-smoke-'))
  try {
    expectText(await run(executable, ['version'], cwd), `gatehouse ${version} (`)
    expectText(await run(executable, ['version', '--notices'], cwd), 'Third-party notices of')
    expectText(await run(executable, ['config', 'check'], cwd), 'valid')
    await serveAndStop(executable, cwd)
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

async function run(executable: string, args: string[], cwd: string): Promise<string> {
  const child = Bun.spawn([executable, ...args], { cwd, env: {}, stderr: 'inherit' })
  const out = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`${args.join(' ')}: exit ${child.exitCode}`)
  return out
}

async function serveAndStop(executable: string, cwd: string) {
  const command = [executable, 'serve', '--server-port', '0']
  const child = Bun.spawn(command, { cwd, env: {}, stderr: 'ignore', timeout: 2 * STARTING_MS })
  try {
    const url = await listeningUrl(child.stdout)
    const response = await fetch(`${url}/healthz`)
    if (!response.ok) throw new Error(`/healthz answers ${response.status}`)
    child.kill('SIGTERM')
    if ((await child.exited) !== 0) throw new Error(`SIGTERM: exit ${child.exitCode}`)
  } finally {
    child.kill('SIGKILL')
  }
}

async function listeningUrl(log: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of log) {
    text += decoder.decode(chunk, { stream: true })
    const url = urlIn(text)
    if (url) return url
  }
  throw new Error(`serve ended: ${text}`)
}

/** Where a server says in its log that it listens; undefined until it has. */
export const urlIn = (log: string): string | undefined =>
  /"message":"listening","url":"([^"]+)"/.exec(log)?.[1]

function expectText(text: string, part: string) {
  if (!text.includes(part)) throw new Error(`expected ${part}, got ${text}`)
}

if (import.meta.main) {
  const [file] = process.argv.slice(2)
  if (!file) {
    console.error('usage: bun scripts/release/smoke.ts FILE')
    process.exit(2)
  }
  const { default: manifest } = await import('../../package.json', { with: { type: 'json' } })
  await smoke(resolve(file), manifest.version)
  console.log(`${file} works`)
}
