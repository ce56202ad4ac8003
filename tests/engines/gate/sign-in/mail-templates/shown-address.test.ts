import { expect, test } from 'bun:test'
import { partlyHidden } from '../../../../../src/engines/gate/sign-in/mail-templates/shown-address.ts'

test.each([
  ['grace@example.com', 'g•••@example.com'],
  ['gr@example.com', 'g•••@example.com'],
  ['grace.hopper+navy@mail.example.org', 'g•••@mail.example.org'],
  ['ärger@exämple.org', 'ä•••@exämple.org'],
  ['g@example.com', '•••@example.com'],
  ['e\u0301@example.com', '•••@example.com'],
  ['कि-लता@example.com', 'कि•••@example.com'],
])('%s is shown with at most one character of its name', (address, shown) => {
  expect(partlyHidden(address)).toBe(shown)
})
