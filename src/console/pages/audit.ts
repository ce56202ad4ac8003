import { Elysia } from 'elysia'
import { AuditPage, type AuditQuery } from '../../../views/console/pages/audit.tsx'
import type { Gate } from '../../engines/gate/index.ts'
import { FORMATS, type Format, headOf, linesOf } from '../../platform/audit/formats.ts'
import type { Audit, AuditFilter, AuditPage as Page } from '../../platform/audit/index.ts'
import { type Clock, stampOf } from '../../platform/clock.ts'
import { invalid } from '../../platform/errors.ts'
import { parseTimestamp } from '../../platform/timestamp.ts'
import type { CallerOf } from '../callers.ts'
import { submitted } from '../form.ts'
import type { Layout } from '../layout.ts'
import type { ConsoleMiddleware, TenantContext } from '../middleware.ts'
import type { Operators } from '../operators/index.ts'
import { may } from '../operators/rights.ts'

const ON_A_PAGE = 50

/** Audit log of a tenant, in pages and as an export. */
export function auditPages(parts: {
  middleware: ConsoleMiddleware
  layout: Layout
  audit: Audit
  operators: Operators
  gate: Pick<Gate, 'webhooks'>
  callerOf: CallerOf
  clock: Clock
}) {
  const { middleware, layout, audit, operators, gate, callerOf, clock } = parts

  async function list(context: Context): Promise<Response> {
    const { request, operator, tenant, query } = context
    const { value: found, errors } = await submitted(
      async () => pageOf(filterIn(tenant.tenantId, query), query),
      { since: 'since', until: 'until' },
    )
    const { webhooks } = gate.webhooks.list(callerOf(context, 'gate', 'live'))
    const members = operators.memberships.list(tenant.tenantId)
    return layout.page({
      request,
      operator,
      title: 'Audit log',
      active: 'audit',
      status: errors ? 422 : 200,
      children: AuditPage({
        base: layout.base(),
        query,
        now: clock.now(),
        names: new Map(members.map(({ id, email }) => [id, email])),
        webhooks: new Set(webhooks.map(({ id }) => id)),
        maySeeKeys: may(tenant.role, 'keys'),
        ...(errors ? { errors } : { found }),
      }),
    })
  }

  /** A page of entries with links in both directions. Going back past the first entry shows the first page. */
  function pageOf(filter: AuditFilter, query: AuditQuery) {
    const [before, after] = [positionIn('before', query.before), positionIn('after', query.after)]
    if (after !== undefined) {
      const { entries, next } = audit.listAfter({ ...filter, after, limit: ON_A_PAGE })
      const last = entries.at(-1)?.seq ?? after + 1
      if (next !== undefined) return { entries, older: last, newer: next }
    }
    const { entries, next }: Page = audit.list({ ...filter, before, limit: ON_A_PAGE })
    const newer = before === undefined ? undefined : (entries[0]?.seq ?? before - 1)
    return { entries, older: next, newer }
  }

  /** Streams all matching entries, oldest first, as fast as the client reads. */
  function download({ tenant, query }: Context): Response {
    const format = FORMATS.find((one) => one === query.format)
    if (!format)
      throw invalid(`must be ${FORMATS.join(' or ')}`, { field: 'format', rule: 'choice' })
    const slices = audit.oldestFirst(filterIn(tenant.tenantId, query))
    const name = `gatehouse-audit-${stampOf(clock.now())}.${format}`
    return new Response(streamOf(textOf(slices, format)), {
      headers: {
        'content-type': TYPES[format],
        'content-disposition': `attachment; filename="${name}"`,
      },
    })
  }

  return new Elysia({ name: 'audit pages', prefix: '/console/audit', detail: { hide: true } })
    .use(middleware)
    .get('', (context) => list(contextOf(context)), { right: 'read' })
    .get('/export', (context) => download(contextOf(context)), { right: 'read' })
}

interface Context extends TenantContext {
  request: Request
  query: AuditQuery
}

const contextOf = (context: TenantContext & { request: Request; query: object }): Context => ({
  ...context,
  query: Object.fromEntries(
    Object.entries(context.query).flatMap(([name, value]) => {
      const text = typeof value === 'string' ? value.trim() : ''
      return text === '' ? [] : [[name, text]]
    }),
  ),
})

const TYPES: Record<Format, string> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
}

function filterIn(tenantId: string, query: AuditQuery): AuditFilter {
  const [since, until] = [momentIn('since', query.since), momentIn('until', query.until)]
  if (since !== undefined && until !== undefined && until <= since)
    throw invalid('must be after the start time', { field: 'until', rule: 'range' })
  const { action, actor: actorId, object } = query
  return { tenantId, action, actorId, object, since, until }
}

/** A time from a form, which is in UTC and has no zone. */
const PLAIN = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?)?$/

function momentIn(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const [whole, time, seconds] = PLAIN.exec(text) ?? []
  if (whole === undefined) return parseTimestamp(text, name)
  const rest = time === undefined ? 'T00:00:00Z' : seconds === undefined ? ':00Z' : 'Z'
  return parseTimestamp(`${text}${rest}`, name)
}

function positionIn(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text))
    throw invalid('must be the number of an entry', { field: name, rule: 'format' })
  return Number(text)
}

function* textOf(slices: Iterable<Parameters<typeof linesOf>[0]>, format: Format) {
  yield headOf(format)
  for (const entries of slices) yield linesOf(entries, format)
}

/** Yields to the event loop between slices, because many of them may have no match. */
function streamOf(texts: Generator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      for (let next = texts.next(); ; next = texts.next()) {
        if (next.done) return controller.close()
        if (next.value !== '') return controller.enqueue(encoder.encode(next.value))
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    cancel: () => void texts.return(undefined),
  })
}
