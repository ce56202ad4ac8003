import { IdentitiesPage } from '../../../../../views/console/pages/gate/identities/list.tsx'
import type { IdentityDetail } from '../../../../engines/gate/identities/model.ts'
import { type Page, page } from '../../../../platform/cursor.ts'
import { submitted } from '../../../form.ts'
import type { Context } from '../context.ts'
import { flash, type GateParts } from '../parts.ts'

const ON_A_PAGE = 50
/** Users are counted up to this number. */
const MAX_COUNTED = 10_000

const STATES = ['active', 'inactive'] as const
type State = (typeof STATES)[number]

/** List of users with search and filters. */
export function identityList({ layout, gate, clock, baseUrl }: GateParts) {
  const { identities, history } = gate

  /** Searches by full ID or by the start of an email address. */
  function foundBy({ caller, query }: Context, state: State | undefined) {
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

  return async (context: Context): Promise<Response> => {
    const { request, operator, caller, query, mayChange } = context
    const state = STATES.find((one) => one === query.state)
    const { value: found, errors } = await submitted(async () => foundBy(context, state))
    const [active, inactive] = STATES.map((one) => identities.count(caller, one, MAX_COUNTED))
    return layout.page({
      request,
      operator,
      title: 'Users',
      active: 'identities',
      flash: query.done === 'deleted' ? DELETED : undefined,
      status: errors ? 422 : 200,
      children: IdentitiesPage({
        base: layout.base(),
        apiUrl: baseUrl(),
        now: clock.now(),
        found: found ?? NOBODY,
        errors,
        filters: { q: query.q ?? '', state },
        position: { cursor: query.cursor || undefined, trail: query.trail },
        counts: { active: active ?? 0, inactive: inactive ?? 0, most: MAX_COUNTED },
        signIns: history.frequency(caller, 'identity.login'),
        signUps: history.frequency(caller, 'identity.created'),
        mayChange,
      }),
    })
  }
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

const NOBODY: Page<IdentityDetail> = { data: [], has_more: false, next_cursor: null }

const DELETED = flash.good('User deleted. Only the audit log is kept.')
