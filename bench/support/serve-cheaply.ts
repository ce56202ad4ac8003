/**
 * Serves a data directory as the program does, but with hashes that cost next to nothing: what is
 * left of a sign-in is everything else.
 */
import { serve } from '../../src/cli/serve.ts'
import { loadConfig } from '../../src/config/index.ts'
import { FLAGS } from './installation.ts'
import { CHEAP } from './sign-ins.ts'

const [dataDir = ''] = process.argv.slice(2)
const flags = { ...FLAGS, 'data-dir': dataDir }
const loaded = loadConfig({ flags, env: {}, cwd: dataDir, readFile: nothing })
if (!loaded.ok || !('run' in serve)) throw new Error('the program is not what it was')
const { memoryCost, timeCost } = CHEAP
const password = {
  ...loaded.config.gate.password,
  memoryBytes: memoryCost * 1024,
  iterations: timeCost,
}
const config = { ...loaded.config, gate: { ...loaded.config.gate, password } }
const io = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
  in: async () => '',
  isWatched: false,
  outStream: process.stdout,
  inStream: () => process.stdin,
  isOutTerminal: false,
  isInTerminal: false,
  env: {},
  cwd: dataDir,
  program: 'bench',
}
await serve.run({ io, config, loaded, options: {}, args: [] })

function nothing(path: string): never {
  throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' })
}
