import { Elysia } from 'elysia'
import { MailPage } from '../../../../views/console/pages/admin/mail.tsx'
import { MAIL_STATES, MailsPage } from '../../../../views/console/pages/admin/mails.tsx'
import type { Db } from '../../../db/open.ts'
import { foldEmail } from '../../../engines/gate/identities/email.ts'
import type { Actor, Audit } from '../../../platform/audit/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import { createCursor } from '../../../platform/cursor.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import type { Mail, MailSummary, Whose } from '../../../platform/mail/index.ts'
import type { Tenants } from '../../../platform/tenants.ts'
import { flashOf } from '../../flash.ts'
import { crumbTo, type Layout } from '../../layout.ts'
import type { ConsoleMiddleware, OperatorContext } from '../../middleware.ts'
import { createListing } from './listing.ts'

const PATH = '/console/admin/mail'
/** Value of the tenant filter for emails of the installation. */
const INSTALLATION = 'installation'

/** Email outbox of all tenants and of the installation. */
export function mailPages(parts: {
  middleware: ConsoleMiddleware
  layout: Layout
  mail: Pick<Mail, 'outbox' | 'hasServer'>
  tenants: Tenants
  db: Db
  audit: Audit
  clock: Clock
}) {
  const { middleware, layout, mail, tenants, db, audit, clock } = parts
  const { outbox, hasServer } = mail
  const cursor = createCursor('console mails')
  const listing = createListing({ layout, path: PATH, cursor })

  function list({ request, operator }: Context): Response {
    const { params, q, search, after: before, rows, pagesTo } = listing(request)
    const state = MAIL_STATES.find(({ name }) => name === params.get('state'))
    const tenant = params.get('tenant') ?? ''
    const recipient = search === undefined ? undefined : foldEmail(search)
    const filter = { states: state?.states, recipient }
    const found = outbox.page(whoseOf(tenant), filter, { before, limit: rows })
    const children = MailsPage({
      base: layout.base(),
      rows: found.mails.map((one) => ({ ...one, owner: ownerOf(one) })),
      tenant: tenant === '' ? undefined : { id: tenant, name: nameOf(tenant) },
      state: state?.name,
      q,
      hasServer,
      open: outbox.open(),
      pages: pagesTo(found.next, { state: state?.name, tenant }),
      now: clock.now(),
    })
    const flash = flashOf(FLASHES, params.get('done'))
    return layout.page({
      request,
      operator,
      title: 'Email outbox',
      active: 'mail',
      flash,
      children,
    })
  }

  const whoseOf = (tenant: string): Whose => {
    if (tenant === '') return 'all'
    return { tenantId: tenant === INSTALLATION ? null : tenant }
  }

  const nameOf = (tenant: string): string =>
    tenant === INSTALLATION ? 'Installation' : tenants.nameOf(tenant)

  /** Owner of an email. Operators belong to no tenant that has a page. */
  const ownerOf = ({ tenantId }: MailSummary) => {
    if (tenantId === null) return { name: 'Installation' }
    return tenants.exists(tenantId)
      ? { id: tenantId, name: tenants.nameOf(tenantId) }
      : { name: 'Operators' }
  }

  /** Emails can contain sign-in codes, so their text is shown only if no mail server is configured. */
  function show({ request, operator }: Context, id: string): Response {
    const { body, ...found } = outbox.read('all', id) ?? fail(notFound('mail not found'))
    return layout.page({
      request,
      operator,
      title: found.subject ?? 'Email',
      active: 'mail',
      above: [crumbTo(layout.base(), 'mail')],
      flash: flashOf(FLASHES, new URL(request.url).searchParams.get('done')),
      children: MailPage({
        base: layout.base(),
        mail: { ...found, owner: ownerOf(found) },
        text: hasServer ? null : (body?.text ?? null),
        hasServer,
        now: clock.now(),
      }),
    })
  }

  async function send({ actor }: Context, id: string): Promise<Response> {
    await db.commit(() => record(actor, 'mail.hastened', outbox.hasten(id)))
    return layout.go(`${PATH}/${id}?done=hastened`)
  }

  async function remove({ actor }: Context, id: string): Promise<Response> {
    await db.commit(() => record(actor, 'mail.deleted', outbox.remove(id)))
    return layout.go(`${PATH}?done=deleted`)
  }

  /** Logged without the recipient. */
  const record = (actor: Actor, action: string, { id, tenantId, kind, state }: MailSummary) =>
    audit.recordForOperators({
      actor,
      action,
      object: `mail:${id}`,
      detail: { kind, state, ...(tenantId !== null && { tenant_id: tenantId }) },
    })

  return new Elysia({ name: 'mail pages', prefix: PATH, detail: { hide: true } })
    .use(middleware)
    .get('', (context) => list(context), { instance: true })
    .get('/:id', (context) => show(context, context.params.id), { instance: true })
    .post('/:id/send', (context) => send(context, context.params.id), { instance: true })
    .post('/:id/delete', (context) => remove(context, context.params.id), { instance: true })
}

type Context = OperatorContext & { request: Request }

const FLASHES: Readonly<Record<string, { tone: 'good'; text: string }>> = {
  hastened: { tone: 'good', text: 'Email queued to be sent now.' },
  deleted: { tone: 'good', text: 'Email deleted.' },
}
