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

/** The keys of an entity, whose parents must include all its ancestors. */
export function keysOf({ uid, parents }: EntityJson): string[] {
  const { type } = uid as TypeAndId
  const own = nameOf(uid)
  const keys = [ANY, `is ${type}`, `== ${own}`]
  for (const name of [own, ...parents.map(nameOf)]) keys.push(`in ${name}`, `is ${type} in ${name}`)
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
