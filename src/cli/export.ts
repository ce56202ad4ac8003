import { PORTABLE_TABLES, SCHEMAS } from '../console/portable-tables.ts'
import { asStorageError } from '../db/errors.ts'
import { stampOf } from '../platform/clock.ts'
import { type Exported, exportLines } from '../platform/portable/export.ts'
import { createImportStore } from '../platform/portable/imports-store.ts'
import { UNSAFE_IN_LINE } from '../platform/unsafe-characters.ts'
import { type Answer, type Command, type Configured, type ExitCode, UsageError } from './command.ts'
import { countLines } from './counts.ts'
import { exportManifest } from './export-manifest.ts'
import { exportPerson } from './export-person.ts'
import { createWarner, note, reported, type Warner } from './export-report.ts'
import { openSink, type Sink } from './export-sink.ts'
import { MANIFEST_SCOPE } from './manifest-scope.ts'
import { type OfflineServices, withReadableServices } from './open.ts'
import { createProgress } from './progress.ts'
import { targetOf } from './target.ts'

export const exportCommand: Command = {
  name: 'export',
  summary: 'Export a tenant as NDJSON or as a manifest, or all data about one user as JSON.',
  options: {
    tenant: { type: 'string', value: 'ID', help: 'The tenant.', required: true },
    'as-code': {
      type: 'boolean',
      help: 'Export the configuration as a manifest for apply, with masks for secrets.',
    },
    env: MANIFEST_SCOPE.env,
    identity: {
      type: 'string',
      value: 'ID',
      help: 'Export only the data about this identity, as one JSON object.',
    },
    person: { type: 'string', value: 'ID', help: 'The same for a user who signs in by messenger.' },
    to: {
      type: 'string',
      value: 'FILE',
      help: 'A new file, readable only by you, or a directory. Default: standard output (-).',
    },
  },
  run: async (invocation) => {
    const { config, options } = invocation
    if (options.identity !== undefined && options.person !== undefined)
      throw new UsageError('export: use either --identity or --person, not both')
    if (options['as-code']) return exportManifest(invocation)
    const isOfPerson = options.identity !== undefined || options.person !== undefined
    const warner = createWarner(invocation)
    const write = isOfPerson ? exportPerson : exportTenant
    try {
      return await withReadableServices(config, warner.warn, (services) =>
        write(invocation, services, warner),
      )
    } catch (error) {
      throw asStorageError(error)
    }
  },
}

async function exportTenant(
  invocation: Configured,
  services: OfflineServices,
  { warn, warnings }: Warner,
): Promise<Answer | ExitCode> {
  const { io, options } = invocation
  const { db, clock, tenants } = services
  const { id, name } = tenants.find(`${options.tenant}`)
  createImportStore(db).refuseUnfinished(id)
  const begunAt = clock.monotonic()
  const file = targetOf(invocation, `gatehouse-${id}-${stampOf(clock.now())}.ndjson`)
  if (file === undefined && io.isOutTerminal)
    throw new UsageError(
      'export: the output has secrets and is not shown on a terminal. Use --to FILE',
    )
  using sink = openSink(io, file)
  await note(services, warn, { tenantId: id, action: 'tenant.exported', object: `tenant:${id}` })
  warn('The export contains unencrypted secrets: protect it like passwords, and delete it soon.')
  const { counts, leftOut } = await writeTenant(invocation, services, { id, sink })
  await sink.end()
  const running = leftOut.running_delayed_jobs ?? 0
  return reported(invocation, sink, {
    json: {
      tenant: id,
      ...sink.target,
      counts,
      left_out: leftOut,
      warnings,
      duration_ms: Math.round(clock.monotonic() - begunAt),
    },
    text: [
      `Exported tenant ${name.replaceAll(UNSAFE_IN_LINE, ' ')} (${id}).`,
      ...countLines(counts),
      ...(running > 0 ? [`${running} delayed jobs are running and are not exported.`] : []),
    ].join('\n'),
  })
}

async function writeTenant(
  { config, io }: Configured,
  { snapshot: open, clock, sealing }: OfflineServices,
  { id, sink }: { id: string; sink: Sink },
): Promise<Exported> {
  const opened = await sealing()
  using snapshot = open()
  const progress = createProgress(io, 'Exporting', 'lines')
  const lines = exportLines({
    snapshot,
    sealing: opened,
    tables: PORTABLE_TABLES,
    tenantId: id,
    now: clock.now(),
    schema: SCHEMAS.at(-1) ?? '',
    keyPrefix: config.brand.prefix,
  })
  try {
    for (let done = 1; ; done++) {
      const next = lines.next()
      if (next.done) return next.value
      await sink.write(next.value)
      progress.step(done)
    }
  } finally {
    progress.end()
  }
}
