import type { Node } from '../../model.ts'
import { field } from './builders.ts'
import type { Say } from './messages.ts'

/** The field for a new password; browsers offer to generate one. */
export const newPassword = (say: Say): Node =>
  field(
    'password',
    { name: 'password', type: 'password', autocomplete: 'new-password' },
    say(1070001),
  )
