import { expect, test } from 'bun:test'
import { partlyHidden } from '../../../../../src/engines/gate/sign-in/mail-templates/shown-address.ts'

test.each([
  ['grace@example.com', 'g•••@example.com'],
  ['gr@example.com', 'g•••@example.com'],
  ['grace.hopper+navy@mail.example.org', 'g•••@mail.example.org'],
  ['ärger@exämple.org', 'ä•••@exämple.org'],
])('of the name in %s one character is shown, and not how many there are', (address, shown) => {
  expect(partlyHidden(address)).toBe(shown)
})

test.each(['g@example.com', 'e\u0301@example.com'])(
  'a name of one, %s, is hidden whole',
  (address) => {
    expect(partlyHidden(address)).toBe('•••@example.com')
  },
)

test('what looks like one character stays in one piece', () => {
  expect(partlyHidden('कि-लता@example.com')).toBe('कि•••@example.com')
})
