import type {
  ActionConstraint,
  EntityJson,
  EntityUidJson,
  PolicyJson,
  PrincipalConstraint,
  ResourceConstraint,
  TypeAndId,
} from '@cedar-policy/cedar-wasm/web'

/**
 * The entities that a policy applies to, each part as a key that they must have. An action must have
 * one of several keys.
 */
export interface Scope {
  principal: string
  action: readonly string[]
  resource: string
}

const ANY = 'any'

/** The scope of a policy without template slots. */
export const scopeOf = ({ principal, action, resource }: PolicyJson): Scope => ({
  principal: keyOf(principal),
  action: actionKeysOf(action),
  resource: keyOf(resource),
})

/** The forms that keys of one part have, so that an entity's keys of other forms need not be made. */
export type Forms = Set<string>

const IS_IN = 'is in'

/** The form of a key. Type names contain no quotes. */
export const formOf = (key: string): string =>
  key.startsWith('is ') && key.includes('"') ? IS_IN : (key.split(' ', 1)[0] as string)

/** The keys of an entity that have one of the forms. Its parents must include all its ancestors. */
export function keysOf({ uid, parents }: EntityJson, forms: Forms): string[] {
  const { type } = uid as TypeAndId
  const own = nameOf(uid)
  const keys = [ANY]
  if (forms.has('is')) keys.push(`is ${type}`)
  if (forms.has('==')) keys.push(`== ${own}`)
  const isIn = forms.has(IS_IN)
  if (!isIn && !forms.has('in')) return keys
  for (const name of [own, ...parents.map(nameOf)]) {
    keys.push(`in ${name}`)
    if (isIn) keys.push(`is ${type} in ${name}`)
  }
  return keys
}

function keyOf(constraint: PrincipalConstraint | ResourceConstraint): string {
  switch (constraint.op) {
    case 'All':
      return ANY
    case 'is': {
      const type = `is ${constraint.entity_type}`
      return constraint.in ? `${type} in ${nameIn(constraint.in)}` : type
    }
    default:
      return `${constraint.op} ${nameIn(constraint)}`
  }
}

function actionKeysOf(constraint: ActionConstraint): string[] {
  if (constraint.op === 'in' && 'entities' in constraint)
    return constraint.entities.map((entity) => `in ${nameOf(entity)}`)
  return [keyOf(constraint as PrincipalConstraint)]
}

function nameIn(operand: { entity: EntityUidJson } | { slot: string }): string {
  if ('slot' in operand) throw new Error('a template has no scope')
  return nameOf(operand.entity)
}

/** Unambiguous, because type names contain no quotes. */
function nameOf(uid: EntityUidJson): string {
  const { type, id } = '__entity' in uid ? uid.__entity : uid
  return `${type}"${id}`
}
