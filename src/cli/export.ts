import { asStorageError, StorageError } from '../db/errors.ts'
import { deliveriesAbout } from '../delivery/store/personal-data.ts'
import { personalData as gateData } from '../engines/gate/store/personal-data.ts'
import { personalData as passepartoutData } from '../engines/passepartout/store/personal-data.ts'
import { isoTime, stampOf } from '../platform/clock.ts'
import { fail, notFound } from '../platform/errors.ts'
import { type Exported, exportLines } from '../platform/portable/export.ts'
import { createImportStore } from '../platform/portable/imports-store.ts'
import { auditOf, mailsAbout } from '../platform/portable/personal-data.ts'
import { openSnapshot, type Snapshot } from '../platform/portable/snapshot.ts'
import { LINE_TRICKS } from '../platform/tricks.ts'
import { VERSION } from '../platform/version.ts'
import {
  type Answer,
  type Command,
  type Configured,
  EXIT,
  type ExitCode,
  UsageError,
} from './command.ts'
import { openSink, type Sink } from './export-sink.ts'
import { type Offices, withOffices } from './open.ts'
import { PORTABLE_TABLES, SCHEMAS } from './portable.ts'
import { createProgress } from './progress.ts'
import { targetOf } from './target.ts'

export const exportCommand: Command = {
  name: 'export',
  summary: 'Write a tenant as NDJSON to move it elsewhere, or what is kept about one person.',
  options: {
    tenant: { type: 'string', value: 'ID', help: 'The tenant.', required: true },
    identity: {
      type: 'string',
      value: 'ID',
      help: 'Only what is kept about this identity, as one JSON object.',
    },
    person: {
      type: 'string',
      value: 'ID',
      help: 'The same about somebody who signs in by messenger.',
    },
    to: {
      type: 'string',
      value: 'FILE',
      help: 'A new file, for you alone to read, or a directory; standard output for - or if absent.',
    },
  },
  run: async (invocation) => {
    const { config, options } = invocation
    if (options.identity !== undefined && options.person !== undefined)
      throw new UsageError('export: either --identity or --person')
    const isOfPerson = options.identity !== undefined || options.person !== undefined
    try {
      return await withOffices(config, (offices) =>
        isOfPerson ? exportPerson(invocation, offices) : exportTenant(invocation, offices),
      )
    } catch (error) {
      throw asStorageError(error)
    }
  },
}

async function exportTenant(invocation: Configured, offices: Offices): Promise<Answer | ExitCode> {
  const { io, options } = invocation
  const { db, clock, tenants } = offices
  const { id, name } = tenants.find(`${options.tenant}`)
  createImportStore(db).refuseUnfinished(id)
  const begunAt = clock.monotonic()
  const file = targetOf(invocation, `gatehouse-${id}-${stampOf(clock.now())}.ndjson`)
  if (file === undefined && process.stdout.isTTY)
    throw new UsageError('export: secrets do not belong on a terminal; --to names a file for them')
  using sink = openSink(io, file)
  const { warn, warnings } = createWarner(invocation)
  await note(offices, warn, {
    tenantId: id,
    action: 'tenant.exported',
    object: `tenant:${id}`,
  })
  warn('The export holds secrets in clear: keep it as you keep passwords, and delete it soon.')
  const { counts, leftOut } = await writeTenant(invocation, offices, { id, sink })
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
      `Exported tenant ${name.replaceAll(LINE_TRICKS, ' ')} (${id}).`,
      ...countLines(counts),
      ...(running > 0 ? [`${running} delayed jobs are under way and stay behind.`] : []),
    ].join('\n'),
  })
}

async function writeTenant(
  { config, io }: Configured,
  { db, clock, sealing }: Offices,
  { id, sink }: { id: string; sink: Sink },
): Promise<Exported> {
  const opened = await sealing()
  using snapshot = openSnapshot(db)
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

/** Of each kind that there is, how many. */
export const countLines = (counts: Record<string, number>): string[] =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${`${count}`.padStart(8)}  ${kind}`)

async function exportPerson(invocation: Configured, offices: Offices): Promise<Answer | ExitCode> {
  const { io, options } = invocation
  const { clock, tenants } = offices
  const { id: tenantId } = tenants.find(`${options.tenant}`)
  const begunAt = clock.monotonic()
  using snapshot = openSnapshot(offices.db)
  const now = clock.now()
  const { object, data } =
    options.identity !== undefined
      ? aboutIdentity(snapshot, tenantId, `${options.identity}`)
      : aboutMessengerPerson(snapshot, tenantId, `${options.person}`)
  const id = object.slice(object.lastIndexOf(':') + 1)
  using sink = openSink(io, targetOf(invocation, `gatehouse-${id}-${stampOf(now)}.json`))
  const { warn, warnings } = createWarner(invocation)
  await note(offices, warn, { tenantId, action: 'person.exported', object })
  const head = { kind: 'gatehouse.person', version: VERSION, exported_at: isoTime(now) }
  await sink.write(`${JSON.stringify({ ...head, tenant: tenantId, ...data }, null, 2)}\n`)
  await sink.end()
  return reported(invocation, sink, {
    json: {
      tenant: tenantId,
      object,
      ...sink.target,
      warnings,
      duration_ms: Math.round(clock.monotonic() - begunAt),
    },
    text: `Exported what is kept about ${object}.`,
  })
}

function aboutIdentity(snapshot: Snapshot, tenantId: string, id: string) {
  const data = gateData(snapshot, tenantId, id) ?? fail(notFound('identity not found'))
  const object = `identity:${id}`
  return {
    object,
    data: {
      ...data,
      mails: mailsAbout(snapshot, tenantId, id),
      webhook_deliveries: deliveriesAbout(snapshot, tenantId, id),
      audit: auditOf(snapshot, tenantId, { id, objects: [object, `subject:${id}`] }),
      note: 'Sign-in by messenger has accounts of its own: export those with --person.',
    },
  }
}

/**
 * No index leads from a person to their sign-ins: all that are kept are read for it, which is rare
 * and holds up nobody.
 */
function aboutMessengerPerson(snapshot: Snapshot, tenantId: string, id: string) {
  const data = passepartoutData(snapshot, tenantId, id) ?? fail(notFound('no such person'))
  const object = `passepartout:user:${id}`
  const signIns = data.sign_ins.map((attempt) => `passepartout:login:${attempt.id}`)
  return {
    object,
    data: { ...data, audit: auditOf(snapshot, tenantId, { id, objects: [object, ...signIns] }) },
  }
}

/** Before anything is handed out. A disk that takes no writes must not keep somebody from leaving. */
async function note(
  { db, audit, actor }: Offices,
  warn: (text: string) => void,
  entry: { tenantId: string; action: string; object: string },
) {
  try {
    await db.commit(() => audit.record({ ...entry, actor }))
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    warn(`This is not in the audit log: ${error.message}.`)
  }
}

/** People are told at once; a program gets all of it in its one report. */
function createWarner({ io, options }: Configured) {
  const warnings: string[] = []
  function warn(text: string) {
    warnings.push(text)
    if (options.json !== true) io.err(`${text}\n`)
  }
  return { warn, warnings }
}

/** The answer, on standard error where standard output is the data. */
function reported({ io, options }: Configured, sink: Sink, answer: Answer): Answer | ExitCode {
  if (sink.target.file !== undefined) return answer
  io.err(`${options.json === true ? JSON.stringify(answer.json) : answer.text}\n`)
  return EXIT.ok
}
