import { type Config, loadConfig } from '../../src/config/index.ts'

/** The configuration of a fresh installation, with `flags` as on the command line; `env` has secrets. */
export function testConfig(
  flags: Record<string, string> = {},
  env: Record<string, string> = {},
): Config {
  const loaded = loadConfig({ flags, env, cwd: '/nowhere', readFile: missing })
  if (!loaded.ok) throw new Error(loaded.errors.map(({ message }) => message).join('; '))
  return loaded.config
}

function missing(path: string): never {
  throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' })
}
