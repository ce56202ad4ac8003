import type { Node } from '../../model/flows.ts'
import { field } from './builders.ts'
import type { Say } from './messages.ts'

/** A password that is yet to be chosen; browsers offer to think of one. */
export const newPassword = (say: Say): Node =>
  field(
    'password',
    { name: 'password', type: 'password', autocomplete: 'new-password' },
    say(1070001),
  )
