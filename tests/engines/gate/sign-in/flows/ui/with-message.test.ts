import { expect, test } from 'bun:test'
import {
  codeLoginSent,
  createSay,
  emailTrait,
  identifierNode,
  passwordLogin,
  passwordRegistration,
  recoveryCodeSent,
  socialButtons,
  verificationDone,
  withMessage,
} from '../../../../../../src/engines/gate/sign-in/flows/ui/index.ts'

const say = createSay('en')
const FORM = [emailTrait(say, { value: 'anna' }), ...passwordRegistration(say)]

test('a message hangs on the field of that name, and on no other', () => {
  const nodes = withMessage(FORM, 'traits.email', say(4000040))
  expect(nodes?.map(({ messages }) => messages)).toEqual([[say(4000040)], [], []])
  expect(nodes?.map(({ attributes }) => attributes)).toEqual(
    FORM.map(({ attributes }) => attributes),
  )
})

test('a second message comes after the first', () => {
  const once = withMessage(FORM, 'password', say(4000031)) ?? []
  const twice = withMessage(once, 'password', say(4000032, { min_length: 8 }))
  expect(twice?.[1]?.messages.map(({ id }) => id)).toEqual([4000031, 4000032])
})

test('the nodes that were given stay as they are', () => {
  const before = structuredClone(FORM)
  const nodes = withMessage(FORM, 'traits.email', say(4000040))
  expect(FORM).toEqual(before)
  expect(nodes?.[0]).not.toBe(FORM[0])
})

test.each([
  ['a field that the form lacks', FORM, 'code'],
  ['a field without a name', FORM, ''],
  ['the name of something inherited', FORM, 'constructor'],
  ['a form without nodes', [], 'password'],
  ['something to read', verificationDone(say, { continueTo: 'https://a.example/' }), 'continue'],
  ['a hidden field', codeLoginSent(say, { identifier: 'a@b.c' }), 'identifier'],
  ['the hidden field of somebody signed in', refreshed(), 'identifier'],
  ['the button for another code', recoveryCodeSent(say, { email: 'a@b.c' }), 'email'],
  ['one of many buttons', socialButtons(say, 'login', ['github', 'google']), 'provider'],
])('there is no place for it at %s', (_, nodes, field) => {
  expect(withMessage(nodes, field, say(4000002, { property: field }))).toBeUndefined()
})

function refreshed() {
  return [
    identifierNode(say, { value: 'a@b.c', isHidden: true }),
    ...passwordLogin(say, { isRefresh: true }),
  ]
}
