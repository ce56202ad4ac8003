import type { Node, NodeGroup } from '../../model.ts'
import { input } from './builders.ts'
import type { Say } from './messages.ts'

/** The display name of an operator. */
export const displayNameTrait = (say: Say, value?: string, group: NodeGroup = 'default'): Node => {
  const name = 'traits.display_name'
  return input(
    group,
    { name, type: 'text', autocomplete: 'name', value },
    say(1070002, { title: say(1900004).text, name }),
  )
}
