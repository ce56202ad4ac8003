/**
 * Records which functions a start of the server uses: `bun run bytecode-order`. The build stores their
 * bytecode together, so that a start maps fewer pages of the executable. It's worth repeating when
 * much has changed: a function that has changed since is stored elsewhere, and nothing else is lost.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BYTECODE_ORDER, compile } from './build.ts'

/** The version of the format, and the functions; the rest is about parts that are stored anyway. */
const KEPT = /^[vF]/

/** Starts the executable on a new data directory, and ends it once it is ready. */
async function record(executable: string, folder: string, outfile: string) {
  const args = ['--paused', '--server-port=0', '--log-format=json', `--data-dir=${folder}/data`]
  const server = Bun.spawn([executable, 'serve', ...args], {
    env: { BUN_BYTECODE_ORDER_OUT: outfile },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  let url: string | undefined
  for await (const chunk of server.stdout) {
    output += new TextDecoder().decode(chunk)
    url = /"url":"([^"]+)"/.exec(output)?.[1]
    if (url) break
  }
  if (!url) throw new Error('the server did not start')
  await fetch(`${url}/readyz`)
  server.kill()
  await server.exited
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-order-'))
try {
  const [executable, outfile] = [join(folder, 'gatehouse'), join(folder, 'order')]
  await compile({ outfile: executable, commit: 'order' })
  await record(executable, folder, outfile)
  const lines = readFileSync(outfile, 'utf8').split('\n')
  const kept = lines.filter((line) => KEPT.test(line))
  await Bun.write(BYTECODE_ORDER, `${kept.join('\n')}\n`)
  console.log(`recorded ${kept.length - 1} functions`)
} finally {
  rmSync(folder, { recursive: true })
}
