import { type Config, loadConfig, type ProviderName } from '../../src/config/index.ts'

/** The configuration of a fresh installation, with `flags` as on the command line; `env` has secrets. */
export function testConfig(
  flags: Record<string, string> = {},
  env: Record<string, string> = {},
): Config {
  const loaded = loadConfig({ flags, env, cwd: '/nowhere', readFile: missing })
  if (!loaded.ok) throw new Error(loaded.errors.map(({ message }) => message).join('; '))
  return loaded.config
}

/** Options for an installation that has a client at each of these providers; apple needs more. */
export const withClients = (...providers: Exclude<ProviderName, 'apple'>[]) => ({
  flags: Object.fromEntries(providers.map((name) => [`gate-providers-${name}-client-id`, 'x'])),
  env: Object.fromEntries(
    providers.map((name) => [`GATEHOUSE_GATE_PROVIDERS_${name.toUpperCase()}_CLIENT_SECRET`, 'x']),
  ),
})

function missing(path: string): never {
  throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' })
}
