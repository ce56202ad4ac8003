import type { EntityJson, Expr, Var } from '@cedar-policy/cedar-wasm/web'
import type { Asked } from './entities.ts'
import { childrenOf, type Node, type Operands, partsOf } from './expression.ts'

/** The attributes that are read, or the whole. */
type Reads = Set<string> | 'all'

/** What conditions read. Their result is the same for all questions that agree in it. */
export type Dependencies = Record<Var, Reads>

/** Attributes whose value is no entity of the question, so reading on reads no other entity. */
const PLAIN = new Set(['id', 'email', 'email_verified', 'roles', 'metadata'])

/**
 * Everything that can change the result of conditions, or more. An entity counts as a whole unless
 * only its attributes are read. All entities count as a whole if a condition follows a reference,
 * which can lead to any of them.
 */
export function dependenciesOf(conditions: readonly Expr[]): Dependencies {
  const reads: Dependencies = {
    principal: new Set(),
    action: new Set(),
    resource: new Set(),
    context: new Set(),
  }

  function visit(node: Node) {
    const [operator, operands] = partsOf(node)
    if (operator === 'Var') reads[variableOf(node) as Var] = 'all'
    else if (operator === '.' || operator === 'has') visitAccess(operands)
    else {
      if (FOLLOWING.has(operator) && !variableOf(operands.left)) followReference()
      for (const child of childrenOf(operator, operands)) visit(child)
    }
  }

  function visitAccess({ left = {}, attr }: Operands) {
    const variable = variableOf(left)
    if (variable === undefined) {
      if (!isPlain(left)) followReference()
      return visit(left)
    }
    // `has` can name several attributes, each of the one before.
    const [attribute, ...further] = [attr].flat() as unknown as string[]
    if (attribute === undefined) return
    if (reads[variable] !== 'all') reads[variable].add(attribute)
    if (further.length > 0 && !isPlainAttribute(variable, attribute)) followReference()
  }

  function followReference() {
    reads.principal = 'all'
    reads.action = 'all'
    reads.resource = 'all'
  }

  for (const condition of conditions) visit(condition as Node)
  return reads
}

/** Operators that look up the entity on their left. */
const FOLLOWING = new Set(['in', 'is', 'getTag', 'hasTag'])

const variableOf = ({ Var }: Node = {}): Var | undefined => Var as Var | undefined

const isPlainAttribute = (variable: Var, attribute: string) =>
  variable === 'context' || PLAIN.has(attribute)

/** Whether the value is part of the context or of a plain attribute. */
function isPlain(node: Node): boolean {
  const { left, attr } = (node['.'] ?? {}) as { left?: Node; attr?: string }
  if (left === undefined) return false
  const variable = variableOf(left)
  return variable === undefined ? isPlain(left) : isPlainAttribute(variable, attr as string)
}

/** What several policies read. */
export const allOf = (dependencies: readonly Dependencies[]): Dependencies => ({
  principal: union(dependencies.map(({ principal }) => principal)),
  action: union(dependencies.map(({ action }) => action)),
  resource: union(dependencies.map(({ resource }) => resource)),
  context: union(dependencies.map(({ context }) => context)),
})

const union = (reads: readonly Reads[]): Reads =>
  reads.includes('all') ? 'all' : new Set(reads.flatMap((names) => [...names]))

/** Whether the engine needs the entities of a question. */
export const needsEntities = ({ principal, action, resource }: Dependencies): boolean =>
  [principal, action, resource].some((reads) => reads === 'all' || reads.size > 0)

/** The part of a question that is read, as text: the same text for the same part. */
export function readingOf({ principal, action, resource, context }: Dependencies, of: Asked) {
  const [subject, act, object = subject] = of.entities as [EntityJson, EntityJson, EntityJson?]
  return JSON.stringify([
    principal === 'all' ? subject : picked(subject.attrs, principal),
    action === 'all' ? act : picked(act.attrs, action),
    resource === 'all' ? object : picked(object.attrs, resource),
    context === 'all' ? of.context : picked(of.context, context),
  ])
}

function picked(members: Record<string, unknown>, names: ReadonlySet<string>): unknown[] {
  const values: unknown[] = []
  for (const name of names) values.push(Object.hasOwn(members, name) ? [members[name]] : 0)
  return values
}
