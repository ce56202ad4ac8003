import { resolve } from 'node:path'
import { migrations } from '../../drizzle/index.ts'
import type { Config } from '../config/index.ts'
import { PORTABLE, PORTABLE_TABLES, SCHEMAS } from '../console/portable-tables.ts'
import { abandonImport } from '../platform/portable/abandon.ts'
import { type Imported, importTenant } from '../platform/portable/import.ts'
import { openScratch } from '../platform/portable/scratch.ts'
import { type Answer, type Command, type Configured, type Io, UsageError } from './command.ts'
import { countLines } from './counts.ts'
import { withNewServices, withServices } from './open.ts'
import { createProgress } from './progress.ts'

export const importCommand: Command = {
  name: 'import',
  summary: 'Import a tenant from an export file, with or without a running server.',
  positionals: ['[FILE]'],
  options: {
    abandon: {
      type: 'string',
      value: 'TENANT_ID',
      help: 'Delete the data of an interrupted import instead.',
    },
  },
  run: (invocation) => {
    const { options, args } = invocation
    if (options.abandon === undefined && args.length === 0)
      throw new UsageError('import: FILE is missing')
    if (options.abandon !== undefined && args.length > 0)
      throw new UsageError('import: use either FILE or --abandon, not both')
    return options.abandon === undefined ? bring(invocation) : takeBack(invocation)
  },
}

const bring = ({ config, io, args }: Configured): Promise<Answer> =>
  withNewServices(config, async ({ db, clock, audit, actor, sealing }) => {
    const begunAt = clock.monotonic()
    const imported = await watched(io, async (watch) =>
      importTenant({
        db,
        openScratch: () => openScratch({ dataDir: config.dataDir, migrations, now: clock.now() }),
        clock,
        audit,
        actor,
        sealing: await sealing(),
        tables: PORTABLE_TABLES,
        schemas: SCHEMAS,
        file: resolve(io.cwd, args[0] ?? ''),
        ...watch,
      }),
    )
    return reported(imported, config, Math.round(clock.monotonic() - begunAt))
  })

const takeBack = ({ config, options }: Configured): Promise<Answer> =>
  withServices(config, async ({ db, clock, audit, actor }) => {
    const begunAt = clock.monotonic()
    const tenantId = `${options.abandon}`
    const counts = await abandonImport({ db, audit, actor, portable: PORTABLE, tenantId })
    return {
      json: {
        tenant: tenantId,
        deleted: counts,
        duration_ms: Math.round(clock.monotonic() - begunAt),
      },
      text: [`Abandoned the import of tenant ${tenantId}. Deleted:`, ...countLines(counts)].join(
        '\n',
      ),
    }
  })

type Watch = Pick<Parameters<typeof importTenant>[0], 'onCheck' | 'onWrite'>

async function watched<T>(io: Io, work: (watch: Watch) => Promise<T>): Promise<T> {
  const checking = createProgress(io, 'Checking', 'bytes')
  const writing = createProgress(io, 'Importing', 'lines')
  try {
    return await work({ onCheck: checking.step, onWrite: writing.step })
  } finally {
    writing.end()
  }
}

function reported(
  { header, counts, alreadyThere, leftOut, notes }: Imported,
  { brand }: Config,
  durationMs: number,
): Answer {
  const { tenant, key_prefix: prefix } = header
  const hasOtherPrefix = prefix !== brand.prefix && (counts.api_key ?? 0) > 0
  return {
    json: {
      tenant,
      counts,
      left_out: leftOut,
      already_there: alreadyThere,
      overdue_delayed_jobs: 0,
      ...notes,
      ...(hasOtherPrefix && { key_prefix: prefix }),
      duration_ms: durationMs,
    },
    text: [
      `Imported tenant ${tenant}.`,
      ...countLines(counts),
      ...sentence(alreadyThere, 'lines had already been imported before the interruption.'),
      ...sentence(leftOut.recovery_codes, 'users need new recovery codes.'),
      ...sentence(notes.overdue_delayed_jobs, 'delayed jobs are overdue and run immediately.'),
      ...(hasOtherPrefix
        ? [`Its API keys start with ${prefix}. They work once you set [brand] prefix to that.`]
        : []),
    ].join('\n'),
  }
}

const sentence = (count: number | undefined, text: string): string[] =>
  count ? [`${count} ${text}`] : []
