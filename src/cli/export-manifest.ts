import { callerFor } from '../manifest/caller.ts'
import { printManifest } from '../manifest/file.ts'
import { UNSAFE_IN_LINE } from '../platform/unsafe-characters.ts'
import { withApplication } from './application.ts'
import type { Answer, Configured, ExitCode } from './command.ts'
import { reported } from './export-report.ts'
import { openSink } from './export-sink.ts'
import { environmentIn, noTenant, tenantNamed } from './manifest-scope.ts'
import { targetOf } from './target.ts'

/** Writes the configuration of a tenant as a manifest, in TOML or to a `.json` file in JSON. */
export const exportManifest = (invocation: Configured): Promise<Answer | ExitCode> =>
  withApplication(invocation.config, invocation.io, async ({ gatehouse, platform, actor }) => {
    const { io, options } = invocation
    const given = `${options.tenant}`
    const tenant = tenantNamed(platform.tenants, given) ?? noTenant(given)
    const manifest = gatehouse.manifests.export(
      callerFor(tenant, { actor, environment: environmentIn(options) }),
    )
    const file = targetOf(invocation, `${tenant.id}.toml`)
    using sink = openSink(io, file)
    await sink.write(printManifest(manifest, file?.endsWith('.json') ? 'json' : 'toml'))
    await sink.end()
    return reported(invocation, sink, {
      json: { tenant: tenant.id, ...sink.target },
      text: `Exported the configuration of ${tenant.name.replaceAll(UNSAFE_IN_LINE, ' ')}. Secrets are masked: before you apply it elsewhere, replace them.`,
    })
  })
