import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const VERSION = 'v0.5.18'

/**
 * Writes the executable `litestream` into a folder: `version`, `replicate` and `restore` as far as Gatehouse
 * uses them, with the control socket, the names in the bucket and the order of steps. A file in the bucket
 * has the whole database. It ends with the process that starts it. With the path of a real Litestream in
 * `TEST_LITESTREAM`, the executable runs that.
 */
export function installLitestream(folder: string): string {
  const file = join(folder, 'litestream')
  const program = process.env.TEST_LITESTREAM ?? `${process.execPath}' '${import.meta.path}`
  writeFileSync(file, `#!/bin/sh\nexec '${program}' "$@"\n`)
  chmodSync(file, 0o755)
  return file
}

const SWITCHES = ['-f']

/** Options by name, such as `-config`, and the argument besides them. */
function parse(args: string[]) {
  const options = new Map<string, string>()
  let [rest, at] = ['', 0]
  while (at < args.length) {
    const arg = args[at++] ?? ''
    if (!arg.startsWith('-')) rest = arg
    else options.set(arg, SWITCHES.includes(arg) ? '' : (args[at++] ?? ''))
  }
  return { options, rest }
}

function endWithParent() {
  const parent = process.ppid
  setInterval(() => process.ppid === parent || process.exit(1), 100).unref()
}

async function main([command = '', ...args]: string[]) {
  if (command === 'version') return console.log(VERSION)
  endWithParent()
  const { readConfig } = await import('./fake-litestream/replica.ts')
  const { options, rest: path } = parse(args)
  const config = await readConfig(options.get('-config') ?? '', path)
  if (command === 'replicate')
    return (await import('./fake-litestream/replicate.ts')).replicate(config)
  if (command !== 'restore') throw new Error(`litestream ${command}: unknown command`)
  return (await import('./fake-litestream/restore.ts')).restore(config.replica, options)
}

if (import.meta.main)
  await main(process.argv.slice(2)).catch((error) => {
    console.error(error.message)
    process.exit(1)
  })
