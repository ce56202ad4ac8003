import type { Expr } from '@cedar-policy/cedar-wasm/web'

/**
 * What evaluating an expression can cost. There are no loops, so the time is bounded by the
 * text and by the question; this counts where it grows with the product of the two.
 */
export interface Burden {
  levels: number
  /** Operations that take as long as the question's values are large. */
  heavy: number
  /**
   * Characters of patterns, each of which may be held against each of a long text, and
   * `LIKE` for every text that is taken apart for it.
   */
  pattern: number
  /** Whether a pattern is held against a text of the policy's own. */
  likesConstant: boolean
  /** Characters of its longest text, against which an `if` may hold a pattern. */
  longestText: number
}

/** Evaluating one takes at most 4 KB of the engine's stack, which is 1 MB. */
export const MOST_LEVELS = 100

/** What a pattern takes before its first character, in characters. */
export const LIKE = 4

/**
 * For the conditions of one policy, which the engine makes a chain of. Goes just far enough to
 * find that there are more than `MOST_LEVELS`.
 */
export function burdenOf(conditions: readonly Expr[]): Burden {
  const burden: Burden = { levels: 0, heavy: 0, pattern: 0, likesConstant: false, longestText: 0 }

  /** Whether it is the same whatever the question. */
  function isConstant(node: Node, level: number): boolean {
    burden.levels = Math.max(burden.levels, level)
    if (level > MOST_LEVELS) return false
    const [operator, operands] = Object.entries(node)[0] as [string, Operands]
    const children = childrenOf(operator, operands)
    const constants = children.map((child) => isConstant(child, level + 1))
    const isLight = (index: number) => constants[index] || isShort(children[index] as Node)
    burden.heavy += heavyParts(operator, constants, isLight)
    if (operator === 'like') {
      burden.likesConstant ||= constants[0] === true
      if (!isLight(0)) burden.pattern += LIKE + patternLength(operands)
    }
    burden.longestText = Math.max(burden.longestText, textLength(node))
    return operator !== 'Var' && constants.every(Boolean)
  }

  for (const condition of conditions) isConstant(condition as Node, conditions.length)
  return burden
}

/** An expression has one member, named for what it does. */
type Node = Record<string, unknown>

type Operands = Record<string, Node>

const OPERANDS = ['left', 'right', 'arg', 'if', 'then', 'else', 'in']

function childrenOf(operator: string, operands: Operands): Node[] {
  if (operator === 'Value' || operator === 'Var' || operator === 'Slot') return []
  if (operator === 'Record') return Object.values(operands)
  // A set, or what a function is called with.
  if (Array.isArray(operands)) return operands as Node[]
  return OPERANDS.map((name) => operands[name]).filter((operand) => operand !== undefined)
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

/** An entity of the question, or an attribute of one that is never long. */
function isShort(node: Node): boolean {
  if (isEntity(node)) return true
  const { left, attr } = (node['.'] ?? {}) as { left?: Node; attr?: string }
  return left !== undefined && isEntity(left) && SHORT.has(attr as string)
}

const isEntity = ({ Var }: Node): boolean => Var !== undefined && Var !== 'context'

const SHORT = new Set(['id', 'tenant', 'email', 'email_verified'])
