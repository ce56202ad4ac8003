import type { Caller } from '../platform/caller.ts'
import type { Collection, Item, Section } from './section.ts'
import type { Step } from './steps.ts'
import { differing, inOrder, isObject } from './values.ts'

/** A changed field, with secrets masked. */
export interface FieldChange {
  field: string
  before: unknown
  after: unknown
}

/** A change of a tenant, planned or made. */
export interface Change {
  action: Step['action']
  /** Such as `job`, or the name of a setting. */
  kind: string
  name: string | null
  id: string | null
  fields: FieldChange[]
  /** After a creation: a value that is shown only once, such as an API key. */
  secret?: string | null
  /** After the creation of a monitor. */
  ping_url?: string | null
}

/** The values of sections at one time: items by id, or the value of a setting. */
export type State = ReadonlyMap<Section, unknown>

/** Reads the sections that steps change. */
export function stateOf(steps: readonly Step[], caller: Caller): State {
  const sections = [...new Set(steps.map(({ section }) => section))]
  return new Map(sections.map((section) => [section, currentOf(section, caller)]))
}

const currentOf = (section: Section, caller: Caller): unknown =>
  section.type === 'setting'
    ? section.read(caller)
    : new Map(section.list(caller).map(({ id, item }) => [id, inOrder(section, item)]))

/** Whether the configuration stayed the same, whatever happened in operation. */
export const isSameState = (one: State, other: State): boolean =>
  [...one].every(([section, value]) => Bun.deepEquals(value, other.get(section)))

/** What a step changes, by the states before and after it. */
export function describe(step: Step, states: { before: State; after: State }): Change {
  const { action, section, name, id } = step
  const kind = section.type === 'setting' ? section.name : section.noun
  return { action, kind, name, id, fields: fieldsOf(step, states) }
}

function fieldsOf(step: Step, { before, after }: { before: State; after: State }): FieldChange[] {
  const { action, section, wanted } = step
  if (section.type === 'setting')
    return settingChanges(section.name, before.get(section), after.get(section))
  if (action === 'delete') return []
  if (action === 'create') return givenFields(section, wanted as Item)
  const [old, next] = [itemIn(before, step), itemIn(after, step)]
  const names = Object.keys(differing(old, next)).filter((name) => name in (wanted as Item))
  const [shownOld, shownNext] = [section.masked(old), section.masked(next)]
  return names.map((field) => ({ field, before: shownOld[field], after: shownNext[field] }))
}

const itemIn = (state: State, { section, id }: Step): Item =>
  (state.get(section) as ReadonlyMap<string, Item>).get(id as string) ?? {}

/** Fields that aren't the default. */
const givenFields = (section: Collection, item: Item): FieldChange[] =>
  Object.entries(inOrder(section, differing(section.defaultsOf(item), section.masked(item)))).map(
    ([field, after]) => ({ field, before: null, after }),
  )

function settingChanges(name: string, before: unknown, after: unknown): FieldChange[] {
  if (!isObject(before) || !isObject(after))
    return Bun.deepEquals(before, after) ? [] : [{ field: name, before, after }]
  return Object.entries(differing(before, after)).map(([field, value]) => ({
    field,
    before: before[field],
    after: value,
  }))
}
