/** An expression of Cedar as JSON: an object with one member, named after its operation. */
export type Node = Record<string, unknown>

export type Operands = Record<string, Node>

export const partsOf = (node: Node): [operator: string, operands: Operands] =>
  Object.entries(node)[0] as [string, Operands]

const OPERANDS = ['left', 'right', 'arg', 'if', 'then', 'else', 'in']

/** The expressions that an expression consists of. */
export function childrenOf(operator: string, operands: Operands): Node[] {
  if (operator === 'Value' || operator === 'Var' || operator === 'Slot') return []
  if (operator === 'Record') return Object.values(operands)
  // The items of a set, or the arguments of a function.
  if (Array.isArray(operands)) return operands as Node[]
  return OPERANDS.map((name) => operands[name]).filter((operand) => operand !== undefined)
}
