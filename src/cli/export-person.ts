import { deliveriesAbout } from '../delivery/store/personal-data.ts'
import { personalData as gateData } from '../engines/gate/identities/personal-data-store.ts'
import { personalData as passepartoutData } from '../engines/passepartout/store/personal-data.ts'
import { isoTime, stampOf } from '../platform/clock.ts'
import { fail, notFound } from '../platform/errors.ts'
import { auditOf, mailsAbout } from '../platform/portable/personal-data.ts'
import type { Snapshot } from '../platform/portable/snapshot.ts'
import { VERSION } from '../platform/version.ts'
import type { Answer, Configured, ExitCode } from './command.ts'
import { note, reported, type Warner } from './export-report.ts'
import { openSink } from './export-sink.ts'
import type { OfflineServices } from './open.ts'
import { targetOf } from './target.ts'

/** Exports everything stored about one user as one JSON object. */
export async function exportPerson(
  invocation: Configured,
  services: OfflineServices,
  { warn, warnings }: Warner,
): Promise<Answer | ExitCode> {
  const { io, options } = invocation
  const { clock, tenants } = services
  const { id: tenantId } = tenants.find(`${options.tenant}`)
  const begunAt = clock.monotonic()
  using snapshot = services.snapshot()
  const now = clock.now()
  const { object, data } =
    options.identity !== undefined
      ? aboutIdentity(snapshot, tenantId, `${options.identity}`)
      : aboutMessengerPerson(snapshot, tenantId, `${options.person}`)
  const id = object.slice(object.lastIndexOf(':') + 1)
  using sink = openSink(io, targetOf(invocation, `gatehouse-${id}-${stampOf(now)}.json`))
  await note(services, warn, { tenantId, action: 'person.exported', object })
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
    text: `Exported the data about ${object}.`,
  })
}

function aboutIdentity(snapshot: Snapshot, tenantId: string, id: string) {
  const data = gateData(snapshot, tenantId, id) ?? fail(notFound('identity not found'))
  const object = `identity:${id}`
  return {
    object,
    data: {
      ...data,
      mails: mailsAbout(snapshot, tenantId, id, data.identity.traits.email),
      webhook_deliveries: deliveriesAbout(snapshot, tenantId, id),
      audit: auditOf(snapshot, tenantId, { id, objects: [object, `subject:${id}`] }),
      note: 'Messenger logins are separate accounts: export them with --person.',
    },
  }
}

/** No index leads from users to sign-ins, so this reads all; it is rare and blocks nothing else. */
function aboutMessengerPerson(snapshot: Snapshot, tenantId: string, id: string) {
  const data = passepartoutData(snapshot, tenantId, id) ?? fail(notFound('user not found'))
  const object = `passepartout:user:${id}`
  const signIns = data.sign_ins.map((attempt) => `passepartout:login:${attempt.id}`)
  return {
    object,
    data: { ...data, audit: auditOf(snapshot, tenantId, { id, objects: [object, ...signIns] }) },
  }
}
