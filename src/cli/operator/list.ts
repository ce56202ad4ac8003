import { type PresentedOperator, presented } from '../../console/operators/presented.ts'
import type { Operator, OperatorList } from '../../engines/gate/operators/list.ts'
import { type Command, table } from '../command.ts'
import { withServices } from '../open.ts'
import { runsOf } from './present.ts'

/** Operators per read. */
const SLICE = 500

export const operatorList: Command = {
  name: 'operator list',
  summary: 'List the operators of the console and their access.',
  run: ({ config }) =>
    withServices(config, ({ operators }) => {
      const { store, accounts } = operators()
      const list = everybody(accounts.operatorList).map((person) => presented(store, person))
      const head = ['ID', 'EMAIL', 'EMAIL STATUS', 'NAME', 'STATE', 'ACCESS']
      const text = list.length === 0 ? 'No operators yet.' : table([head, ...list.map(row)])
      return { json: { operators: list }, text }
    }),
}

/** All operators, oldest first. */
function everybody({ page }: OperatorList): Operator[] {
  const all: Operator[] = []
  for (let cursor: string | undefined; ; ) {
    const { data, next_cursor: next } = page({ isDescending: false, cursor, limit: SLICE })
    all.push(...data)
    if (next === null) return all
    cursor = next
  }
}

const row = (operator: PresentedOperator): string[] => [
  operator.id,
  operator.email,
  operator.email_verified ? 'verified' : 'not verified',
  operator.name ?? '-',
  operator.state,
  runsOf(operator) || '-',
]
