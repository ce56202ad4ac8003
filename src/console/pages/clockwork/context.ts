import type { ComponentChildren } from 'preact'
import type { FormError } from '../../../../views/console/form/error-summary.tsx'
import type { Crumb } from '../../../../views/console/layout/model.ts'
import { PAGES } from '../../../../views/console/layout/navigation.ts'
import { shorten } from '../../../../views/console/text.tsx'
import type { Flash } from '../../../../views/console/toast.tsx'
import { url } from '../../../../views/console/url.ts'
import type { Clockwork } from '../../../engines/clockwork/index.ts'
import { executionShownTo } from '../../../engines/clockwork/shown-job.ts'
import type { Fields } from '../../../http/body.ts'
import type { Audit } from '../../../platform/audit/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { Clock } from '../../../platform/clock.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import type { CallerOf } from '../../callers.ts'
import { flashOf } from '../../flash.ts'
import { crumbTo, type Layout } from '../../layout.ts'
import type { ConsoleMiddleware, TenantContext } from '../../middleware.ts'

export type Context = TenantContext & { request: Request }

export interface ClockworkPageParts {
  middleware: ConsoleMiddleware
  layout: Layout
  clockwork: Clockwork
  callerOf: CallerOf
  audit: Audit
  clock: Clock
  baseUrl: () => string
}

export type JobContexts = ReturnType<typeof createJobContexts>

/** A rejected form: fields and errors. */
export interface Returned {
  values?: Fields
  errors?: readonly FormError[] | undefined
}

/** Shared by the pages of jobs and of delayed jobs. */
export function createJobContexts(
  { layout, clockwork: { queries }, callerOf }: ClockworkPageParts,
  kind: { page: 'jobs' | 'delayed'; flashes: Readonly<Record<string, Flash>> },
) {
  const { page: active, flashes } = kind
  const { path } = PAGES[active]

  const caller = (context: Context): Caller => callerOf(context, 'clockwork', null)
  const searchOf = ({ request }: Context) => new URL(request.url).searchParams
  const href = (position = '', query = {}) => url(layout.base(), `${path}${position}`, query)
  const crumbToJob = (job: { id: string; name: string }): Crumb => ({
    label: shorten(job.name, MAX_TITLE_LENGTH),
    href: href(`/${job.id}`),
  })

  const go = (position: string, done: string) => layout.go(`${path}${position}?done=${done}`)

  const listPage = (context: Context, title: string, children: ComponentChildren) =>
    layout.page({
      request: context.request,
      operator: context.operator,
      title,
      active,
      flash: flashOf(flashes, searchOf(context).get('done')),
      children,
    })

  /** `of` is the edited job; undefined for a new one. */
  const formPage = (
    { request, operator }: Context,
    {
      title,
      of,
      isWrong,
      children,
    }: {
      title: string
      of?: { id: string; name: string } | undefined
      isWrong: boolean
      children: ComponentChildren
    },
  ) =>
    layout.page({
      request,
      operator,
      title,
      active,
      above: [crumbTo(layout.base(), active), ...(of ? [crumbToJob(of)] : [])],
      status: isWrong ? 422 : 200,
      children,
    })

  /** Page of one job, with the error of the last action, if any. */
  const jobPage = (
    context: Context,
    name: string,
    refusal: string | undefined,
    children: ComponentChildren,
  ) =>
    layout.page({
      request: context.request,
      operator: context.operator,
      title: shorten(name, MAX_TITLE_LENGTH),
      active,
      above: [crumbTo(layout.base(), active)],
      flash:
        refusal === undefined
          ? flashOf(flashes, searchOf(context).get('done'))
          : { tone: 'bad', text: refusal },
      status: refusal === undefined ? 200 : 409,
      children,
    })

  /** Attempts of a job, and the selected execution: from the query string, or the newest. */
  function attemptsOf(context: Context, job: { id: string; headers: Record<string, string> }) {
    const { tenantId } = context.tenant
    const attempts = queries.attempts(tenantId, job.id)
    const requested = searchOf(context).get('execution')
    const chosen = requested ?? attempts[0]?.id
    const found = chosen === undefined ? undefined : queries.attempt(tenantId, job.id, chosen)
    if (chosen !== undefined && !found) fail(notFound('execution not found'))
    const selected = found && executionShownTo(caller(context), job, found)
    return { attempts, selected, here: href(`/${job.id}`, { execution: requested }) }
  }

  return { caller, searchOf, href, go, listPage, formPage, jobPage, attemptsOf }
}

const MAX_TITLE_LENGTH = 60

/** Fields of the form. */
export const fieldsIn = (body: unknown): Fields => (body ?? {}) as Fields
