import { Elysia } from 'elysia'
import { MAIL_STATES, MailPage, MailsPage } from '../../../../views/console/pages/admin/mail.tsx'
import { url } from '../../../../views/console/url.ts'
import type { Clock } from '../../../platform/clock.ts'
import { createCursor } from '../../../platform/cursor.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import { HOUSE_ID } from '../../../platform/house.ts'
import type { Mail, MailSummary, Whose } from '../../../platform/mail/index.ts'
import type { Tenants } from '../../../platform/tenants.ts'
import { crumbTo, type Frames } from '../../frame.ts'
import type { ConsoleKit, OperatorVisit } from '../../kit.ts'

const PATH = '/console/admin/mail'
const ROWS = 50
/** Where a tenant's id would stand, for mails that are the installation's own. */
const INSTALLATION = 'installation'

/** Mails of all tenants and of the installation: what became of each. */
export function mailPages(parts: {
  kit: ConsoleKit
  frames: Frames
  mail: Pick<Mail, 'outbox' | 'hasServer'>
  tenants: Tenants
  clock: Clock
}) {
  const { kit, frames, mail, tenants, clock } = parts
  const { outbox, hasServer } = mail
  const cursor = createCursor('console mails')

  function list({ request, visitor }: Visit): Response {
    const asked = new URL(request.url).searchParams
    const state = MAIL_STATES.find(({ name }) => name === asked.get('state'))
    const tenant = asked.get('tenant') ?? ''
    const before = cursor.positionOf(asked.get('cursor') ?? undefined)
    const found = outbox.page(whoseOf(tenant), new Set(state?.states), { before, limit: ROWS })
    const kept = { state: state?.name, tenant }
    const hrefOf = (query: object) => url(frames.base(), PATH, { ...kept, ...query })
    const children = MailsPage({
      base: frames.base(),
      lines: found.mails.map((one) => ({ ...one, owner: ownerOf(one) })),
      tenant: tenant === '' ? undefined : { id: tenant, name: nameOf(tenant) },
      state: state?.name,
      hasServer,
      open: outbox.open(),
      olderHref:
        found.next === undefined ? undefined : hrefOf({ cursor: cursor.encode(found.next) }),
      newerHref: before === undefined ? undefined : hrefOf({}),
      now: clock.now(),
    })
    return frames.page({ request, visitor, title: 'Mail outbox', active: 'mail', children })
  }

  const whoseOf = (tenant: string): Whose => {
    if (tenant === '') return 'all'
    return { tenantId: tenant === INSTALLATION ? null : tenant }
  }

  const nameOf = (tenant: string): string =>
    tenant === INSTALLATION ? 'the installation' : tenants.nameOf(tenant)

  /** Whose matter a mail is; the house, whose people are the operators, has no page. */
  const ownerOf = ({ tenantId }: MailSummary) =>
    tenantId === null || tenantId === HOUSE_ID
      ? { name: tenantId === null ? 'Installation' : 'Operators' }
      : { id: tenantId, name: tenants.nameOf(tenantId) }

  /**
   * What a letter says signs people in: it is shown only where nobody else can hand it over, since
   * no server for mail is there.
   */
  function show({ request, visitor }: Visit, id: string): Response {
    const { body, ...found } = outbox.read('all', id) ?? fail(notFound('mail not found'))
    return frames.page({
      request,
      visitor,
      title: found.subject ?? 'Mail',
      active: 'mail',
      above: [crumbTo(frames.base(), 'mail')],
      children: MailPage({
        base: frames.base(),
        mail: { ...found, owner: ownerOf(found) },
        text: hasServer ? null : (body?.text ?? null),
        hasServer,
        now: clock.now(),
      }),
    })
  }

  return new Elysia({ name: 'mail pages', prefix: PATH, detail: { hide: true } })
    .use(kit)
    .get('', (visit) => list(visit), { instance: true })
    .get('/:id', (visit) => show(visit, visit.params.id), { instance: true })
}

type Visit = OperatorVisit & { request: Request }
