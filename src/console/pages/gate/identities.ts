import { Elysia } from 'elysia'
import type { FormError } from '../../../../views/console/form/error-summary.tsx'
import {
  type DoneTo,
  IdentitiesPage,
  IdentityPage,
  NewIdentityPage,
} from '../../../../views/console/pages/gate/identities.tsx'
import type { JsonObject } from '../../../engines/gate/documents/json.ts'
import type { Gate } from '../../../engines/gate/index.ts'
import type { IdentityDetail, NewIdentity } from '../../../engines/gate/model/identities.ts'
import { checkMetadata } from '../../../engines/gate/traits.ts'
import { type Fields, parseJson } from '../../../http/body.ts'
import type { Clock } from '../../../platform/clock.ts'
import { type Page, page } from '../../../platform/cursor.ts'
import { deviceOf } from '../../../platform/device.ts'
import { AppError, conflict, fail, invalid, notFound } from '../../../platform/errors.ts'
import type { CallerOf } from '../../callers.ts'
import { asTyped, submitted, typed } from '../../form.ts'
import { crumbTo, type Frames } from '../../frame.ts'
import type { ConsoleKit } from '../../kit.ts'
import { type Visit, visitsOf } from './asked.ts'

const ON_A_PAGE = 50
/** Nobody needs to know it more exactly, and counting takes time. */
const MOST_COUNTED = 10_000

const STATES = ['active', 'inactive'] as const

/** The people of a tenant: found, made, looked at from all sides, switched off and deleted. */
export function identityPages(parts: {
  kit: ConsoleKit
  frames: Frames
  gate: Gate
  clock: Clock
  callerOf: CallerOf
}) {
  const { kit, frames, clock } = parts
  const { identities, editing, sessions, credentialRemoval } = parts.gate
  const asked = visitsOf(parts.callerOf)

  const existing = ({ caller }: Visit, id: string): IdentityDetail =>
    identities.find(caller, id) ?? fail(notFound('identity not found'))

  async function list(visit: Visit): Promise<Response> {
    const { request, visitor, caller, query, mayChange } = visit
    const state = STATES.find((one) => one === query.state)
    const { value: found, errors } = await submitted(async () => foundBy(visit, state))
    const [active, inactive] = STATES.map((one) => identities.count(caller, one, MOST_COUNTED))
    return frames.page({
      request,
      visitor,
      title: 'Identities',
      active: 'identities',
      flash: query.done === 'deleted' ? DELETED : undefined,
      status: errors ? 422 : 200,
      children: IdentitiesPage({
        base: frames.base(),
        now: clock.now(),
        found: found ?? NOBODY,
        errors,
        asked: { q: query.q ?? '', state, cursor: query.cursor },
        counts: { active: active ?? 0, inactive: inactive ?? 0, most: MOST_COUNTED },
        mayChange,
      }),
    })
  }

  /** An id is whole; of an address the beginning is enough. */
  function foundBy({ caller, query }: Visit, state: 'active' | 'inactive' | undefined) {
    const text = query.q?.trim() ?? ''
    if (UUID.test(text)) {
      const found = identities.find(caller, text.toLowerCase())
      return page(found && (!state || found.state === state) ? [found] : [], 1, () => '')
    }
    const { cursor } = query
    return identities.list(caller, {
      limit: ON_A_PAGE,
      state,
      cursor: cursor || undefined,
      search: text === '' ? undefined : text,
    })
  }

  const form = (
    { request, visitor }: Visit,
    of: { typed?: Fields; errors?: readonly FormError[] } = {},
  ): Response =>
    frames.page({
      request,
      visitor,
      title: 'New identity',
      active: 'identities',
      above: [crumbTo(frames.base(), 'identities')],
      status: of.errors ? 422 : 200,
      children: NewIdentityPage({ base: frames.base(), ...of }),
    })

  async function create(visit: Visit): Promise<Response> {
    const { caller, body } = visit
    const { value, errors } = await submitted(
      async () => identities.create(caller, wantedIn(body)),
      FIELDS,
    )
    return value
      ? frames.go(`/console/identities/${value.id}?done=created`)
      : form(visit, { typed: body, errors })
  }

  function show(
    visit: Visit,
    of: { typed?: string; errors?: readonly FormError[] } = {},
  ): Response {
    const { request, visitor, caller, mayChange, mayDelete, query } = visit
    const identity = existing(visit, visit.params.id)
    const { email } = identity.traits
    return frames.page({
      request,
      visitor,
      title: email,
      active: 'identities',
      above: [crumbTo(frames.base(), 'identities')],
      flash: FLASHES[query.done as DoneTo],
      status: of.errors ? 422 : 200,
      children: IdentityPage({
        base: frames.base(),
        now: clock.now(),
        identity,
        sessions: sessions.list(caller, identity.id).map((session) => ({
          ...session,
          device: deviceOf(session.devices[0]?.user_agent ?? null),
        })),
        mayChange,
        mayDelete,
        ...of,
      }),
    })
  }

  /**
   * All of it in the place of all of it, since that is what the form shows: unless it is another by
   * now than the form has shown.
   */
  async function saveMetadata(visit: Visit): Promise<Response> {
    const { caller, body } = visit
    const before = existing(visit, visit.params.id)
    const path = '/metadata_public'
    const { errors } = await submitted(
      async () => {
        const value = metadataIn(body)
        if (typed(body, 'seen') !== before.updated_at)
          throw conflict('metadata: changed since this form was opened; saving again replaces that')
        const unchanged = { op: 'test', path, value: before.metadata_public }
        await editing.patch(caller, before.id, [unchanged, { op: 'replace', path, value }])
      },
      { metadata: 'metadata' },
    )
    return errors
      ? show(visit, { typed: asTyped(body, 'metadata'), errors })
      : done(visit, 'metadata')
  }

  async function setState(visit: Visit, state: 'active' | 'inactive'): Promise<Response> {
    await editing.setState(visit.caller, existing(visit, visit.params.id).id, state)
    return done(visit, state)
  }

  async function removeCredential(visit: Visit): Promise<Response> {
    const { id } = existing(visit, visit.params.id)
    await credentialRemoval.remove(visit.caller, id, visit.params.part)
    return done(visit, 'credential')
  }

  async function revokeSession(visit: Visit): Promise<Response> {
    const { id } = existing(visit, visit.params.id)
    const isTheirs = sessions.list(visit.caller, id).some((one) => one.id === visit.params.part)
    if (!isTheirs) throw notFound('session not found, or over already')
    await sessions.revoke(visit.caller, visit.params.part)
    return done(visit, 'session')
  }

  async function revokeSessions(visit: Visit): Promise<Response> {
    await sessions.revokeAll(visit.caller, existing(visit, visit.params.id).id)
    return done(visit, 'sessions')
  }

  async function remove(visit: Visit): Promise<Response> {
    await identities.remove(visit.caller, existing(visit, visit.params.id).id)
    return frames.go('/console/identities?done=deleted')
  }

  const done = ({ params }: Visit, what: DoneTo): Response =>
    frames.go(`/console/identities/${params.id}?done=${what}`)

  return new Elysia({
    name: 'identity pages',
    prefix: '/console/identities',
    detail: { hide: true },
  })
    .use(kit)
    .get('', (visit) => list(asked(visit)), { right: 'read' })
    .get('/new', (visit) => form(asked(visit)), { right: 'change' })
    .post('', (visit) => create(asked(visit)), { right: 'change' })
    .get('/:id', (visit) => show(asked(visit)), { right: 'read' })
    .post('/:id/metadata', (visit) => saveMetadata(asked(visit)), { right: 'change' })
    .post('/:id/deactivate', (visit) => setState(asked(visit), 'inactive'), { right: 'change' })
    .post('/:id/activate', (visit) => setState(asked(visit), 'active'), { right: 'change' })
    .post('/:id/credentials/:part/remove', (visit) => removeCredential(asked(visit)), {
      right: 'change',
    })
    .post('/:id/sessions/revoke', (visit) => revokeSessions(asked(visit)), { right: 'change' })
    .post('/:id/sessions/:part/revoke', (visit) => revokeSession(asked(visit)), {
      right: 'change',
    })
    .post('/:id/delete', (visit) => remove(asked(visit)), { right: 'delete' })
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

const NOBODY: Page<IdentityDetail> = { data: [], has_more: false, next_cursor: null }

const good = (text: string) => ({ tone: 'good' as const, text })

const DELETED = good('Deleted, with everything that was known of the person but the audit log.')

const FLASHES: Readonly<Record<DoneTo, ReturnType<typeof good>>> = {
  created: good('Created.'),
  metadata: good('Metadata saved.'),
  active: good('Activated. They can sign in again.'),
  inactive: good('Deactivated. Their sessions and access tokens have ended.'),
  credential: good('Removed. Sessions go on.'),
  session: good('Session ended.'),
  sessions: good('All sessions ended.'),
}

/** What the API calls the fields of the form. */
const FIELDS = {
  'traits.email': 'email',
  'credentials.password.config.password': 'password',
  metadata: 'metadata',
}

function wantedIn(body: Fields): NewIdentity {
  const email = typed(body, 'email')
  const password = asTyped(body, 'password')
  return {
    schema_id: 'user',
    traits: { email },
    metadata_public: metadataIn(body),
    ...(password !== '' && { credentials: { password: { config: { password } } } }),
    ...(typed(body, 'verified') !== '' && {
      verifiable_addresses: [{ value: email, verified: true }],
    }),
  }
}

/** An object, or nothing for an empty one; whatever is wrong with it is wrong with the field. */
function metadataIn(body: Fields): JsonObject {
  try {
    const metadata = parseJson(asTyped(body, 'metadata').trim()) ?? {}
    checkMetadata(metadata)
    return metadata
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw invalid(`metadata: ${error.message.replace(/^(body|metadata_public)[:.] ?/, '')}`)
  }
}
