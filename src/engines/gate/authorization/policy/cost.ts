import type { Expr } from '@cedar-policy/cedar-wasm/web'
import { childrenOf, type Node, type Operands, partsOf } from './expression.ts'

/** Evaluation has no loops. Estimates what grows with the product of policies and question. */
export interface PolicyCost {
  levels: number
  /** Operations whose duration grows with the size of the question's values. */
  heavy: number
  /** Pattern characters, each possibly compared with a whole text, plus `LIKE` per matched text. */
  pattern: number
  /** Whether a pattern is matched against a constant of the policy. */
  likesConstant: boolean
  /** Length of its longest text, which a conditional may match a pattern against. */
  longestText: number
}

/** Maximum nesting. Evaluating a level takes at most 4 KB of the engine's stack of 1 MB. */
export const MAX_LEVELS = 100

/** The fixed cost of a pattern, in characters. */
export const LIKE = 4

/** The engine chains a policy's conditions. Stops once more than `MAX_LEVELS` are found. */
export function costOf(conditions: readonly Expr[]): PolicyCost {
  const cost: PolicyCost = { levels: 0, heavy: 0, pattern: 0, likesConstant: false, longestText: 0 }

  /** Whether the value does not depend on the question. */
  function isConstant(node: Node, level: number): boolean {
    cost.levels = Math.max(cost.levels, level)
    if (level > MAX_LEVELS) return false
    const [operator, operands] = partsOf(node)
    const children = childrenOf(operator, operands)
    const constants = children.map((child) => isConstant(child, level + 1))
    const isLight = (index: number) => constants[index] || isShort(children[index] as Node)
    cost.heavy += heavyParts(operator, constants, isLight)
    if (operator === 'like') {
      cost.likesConstant ||= constants[0] === true
      if (!isLight(0)) cost.pattern += LIKE + patternLength(operands)
    }
    cost.longestText = Math.max(cost.longestText, textLength(node))
    return operator !== 'Var' && constants.every(Boolean)
  }

  for (const condition of conditions) isConstant(condition as Node, conditions.length)
  return cost
}

const patternLength = ({ pattern }: Operands): number => Object.keys(pattern ?? []).length

const textLength = ({ Value }: Node): number => (typeof Value === 'string' ? Value.length : 0)

function heavyParts(
  operator: string,
  constants: readonly boolean[],
  isLight: (index: number) => boolean,
): number {
  switch (operator) {
    case 'Set':
      return constants.filter((_, index) => !isLight(index)).length
    case '==':
    case '!=':
      return isLight(0) || isLight(1) ? 0 : 1
    case 'containsAll':
    case 'containsAny':
      return constants[1] ? 0 : 1
    default:
      return 0
  }
}

/** An entity of the question, or an attribute that is always short. */
function isShort(node: Node): boolean {
  if (isEntity(node)) return true
  const { left, attr } = (node['.'] ?? {}) as { left?: Node; attr?: string }
  return left !== undefined && isEntity(left) && SHORT.has(attr as string)
}

const isEntity = ({ Var }: Node): boolean => Var !== undefined && Var !== 'context'

const SHORT = new Set(['id', 'tenant', 'email', 'email_verified'])
