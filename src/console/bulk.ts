import type { Flash } from '../../views/layout/toast.tsx'
import type { Selection } from '../../views/ui/bulk.tsx'
import { url } from '../../views/ui/url.ts'
import { capitalized, numeral } from '../../views/ui/words.ts'
import { StorageError } from '../db/errors.ts'
import { AppError, invalid } from '../platform/errors.ts'
import { filterIn } from './list.tsx'
import type { Right } from './operators/rights.ts'
import {
  good,
  type OperatorPageContext,
  type Outcome,
  type PageContext,
  usePage,
  warn,
} from './page.tsx'

/** More rows than a page of any list has. */
const MAX_SELECTED = 100

interface BulkSpec {
  right: Right | 'admin'
  /** On the button, such as `Pause`. */
  verb: string
  noun: readonly [one: string, many: string]
  /** What happened to the rows, such as `paused`. */
  done: string
  /** Asks before the action, with the consequence. */
  confirm?: string
  /** The action on one row, by the service of its own page. */
  each: (context: PageContext, id: string) => Promise<unknown>
}

/** For pages of a tenant, and with the right `admin` for those of the installation. */
export interface BulkAction extends Omit<BulkSpec, 'done' | 'each'> {
  flash: Readonly<Record<string, Flash>>
  run: (context: OperatorPageContext) => Promise<Outcome>
}

/**
 * An action on the selected rows of a page of a list. Each row is changed on its own, as if alone: with
 * its rules and its audit entry. Rows that refuse stay selected, and the message has the reasons.
 */
export function bulk({ each, done, ...spec }: BulkSpec): BulkAction {
  const { noun } = spec
  return {
    ...spec,
    flash: {
      one: good(`${capitalized(noun[0])} ${done}.`),
      many: good(`{count} ${noun[1]} ${done}.`),
    },
    async run(context) {
      const ids = idsIn(context.fields.ids)
      if (ids.length === 0) return { again: true, report: warn(`Select a ${noun[0]} first.`) }
      const errors = await Promise.all(
        ids.map((id) => errorOf(() => each(context as PageContext, id))),
      )
      const refused = ids.filter((_, index) => errors[index] !== undefined)
      const count = ids.length - refused.length
      if (refused.length === 0) return { ...named(count), query: { ...kept(context), count } }
      const met = errors.filter((error) => error !== undefined)
      const reasons = [...new Set(met.map((error) => reasonOf(error, count)))].join(' ')
      const changed = count > 0 ? `${countOf(count, noun)} ${done}. ` : ''
      const report = `${changed}${countOf(refused.length, noun)} not ${done}: ${reasons}`
      return { again: true, values: { ids: refused }, report: bad(report) }
    },
  }
}

/** Pauses, resumes and deletes the selected rows. */
export const bulkControls = (of: {
  noun: BulkSpec['noun']
  setActive: (context: PageContext, id: string, isActive: boolean) => Promise<unknown>
  remove: BulkSpec['each']
  /** What happened to resumed rows. */
  resumed?: string
  /** The consequence of a deletion. */
  confirm: string
}) => ({
  'selected/pause': bulk({
    right: 'change',
    verb: 'Pause',
    noun: of.noun,
    done: 'paused',
    each: (context, id) => of.setActive(context, id, false),
  }),
  'selected/resume': bulk({
    right: 'change',
    verb: 'Resume',
    noun: of.noun,
    done: of.resumed ?? 'resumed',
    each: (context, id) => of.setActive(context, id, true),
  }),
  'selected/delete': bulk({
    right: 'delete',
    verb: 'Delete',
    noun: of.noun,
    done: 'deleted',
    confirm: of.confirm,
    each: of.remove,
  }),
})

const bad = (text: string): Flash => ({ tone: 'bad', text })

const countOf = (count: number, [one, many]: BulkSpec['noun']): string =>
  `${numeral(count)} ${count === 1 ? one : many}`

const named = (count: number) => ({ flash: count === 1 ? 'one' : 'many' })

/** The filter and position of the list. */
const kept = (context: OperatorPageContext) => ({ ...filterIn(context), ...context.position })

function idsIn(value: unknown): string[] {
  const ids = Array.isArray(value) ? value.filter((id) => typeof id === 'string') : []
  if (ids.length > MAX_SELECTED)
    throw invalid(`must be at most ${MAX_SELECTED}`, { field: 'ids', rule: 'too_many' })
  return [...new Set(ids)]
}

/** Why a row was not changed; undefined if it was. */
async function errorOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work()
    return undefined
  } catch (error) {
    return error
  }
}

/** Throws other errors than refusals: a disk that is full only if no row was changed, as its page says. */
function reasonOf(error: unknown, changed: number): string {
  if (error instanceof AppError || (error instanceof StorageError && changed > 0))
    return `${capitalized(error.message)}.`
  throw error
}

/** What the table needs to offer those of a page's bulk actions that the operator may use. */
export function useSelection(actions: Readonly<Record<string, BulkAction>>): Selection | undefined {
  const { may, actionHref, submission, query, position } = usePage()
  const allowed = Object.entries(actions).filter(([, { right }]) => right === 'admin' || may(right))
  if (allowed.length === 0) return undefined
  const ids = submission?.values.ids
  return {
    actions: allowed.map(([name, { verb, noun, confirm }]) => ({
      id: name.replaceAll('/', '-'),
      href: url('', actionHref(name), { ...filterIn({ query }), ...position }),
      verb,
      ...(confirm && {
        question: `${verb.split(' ')[0]} the selected ${noun[1]}?`,
        consequence: confirm,
      }),
    })),
    selected: new Set(Array.isArray(ids) ? (ids as string[]) : []),
  }
}
