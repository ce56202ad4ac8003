import { expect, test } from 'bun:test'
import * as ui from '../../../../../../src/engines/gate/sign-in/flows/ui/index.ts'
import type { Node } from '../../../../../../src/engines/gate/sign-in/model.ts'

const say = ui.createSay('en')

test('signing in by password, written out', () => {
  const title = { title: 'Email address', name: 'traits.email' }
  expect([
    ui.csrfNode('a-token'),
    ui.identifierNode(say),
    ...ui.passwordLogin(say, { isRefresh: false }),
  ]).toStrictEqual([
    {
      type: 'input',
      group: 'default',
      attributes: {
        name: 'csrf_token',
        type: 'hidden',
        value: 'a-token',
        required: true,
        disabled: false,
        node_type: 'input',
      },
      messages: [],
      meta: { label: { id: 0, text: '', type: 'info' } },
    },
    {
      type: 'input',
      group: 'default',
      attributes: {
        name: 'identifier',
        type: 'text',
        value: '',
        required: true,
        autocomplete: 'username',
        disabled: false,
        node_type: 'input',
      },
      messages: [],
      meta: { label: { id: 1070002, text: 'Email address', type: 'info', context: title } },
    },
    {
      type: 'input',
      group: 'password',
      attributes: {
        name: 'password',
        type: 'password',
        value: '',
        required: true,
        autocomplete: 'current-password',
        disabled: false,
        node_type: 'input',
      },
      messages: [],
      meta: { label: { id: 1070001, text: 'Password', type: 'info' } },
    },
    {
      type: 'input',
      group: 'password',
      attributes: {
        name: 'method',
        type: 'submit',
        value: 'password',
        disabled: false,
        node_type: 'input',
      },
      messages: [],
      meta: { label: { id: 1010022, text: 'Sign in with password', type: 'info' } },
    },
  ])
})

test('a code for recovery, written out', () => {
  expect(ui.recoveryCodeSent(say, { email: 'anna@example.com', code: '123456' })).toStrictEqual([
    {
      type: 'input',
      group: 'code',
      attributes: {
        name: 'code',
        type: 'text',
        value: '123456',
        required: true,
        autocomplete: 'one-time-code',
        pattern: '[0-9]+',
        maxlength: 6,
        disabled: false,
        node_type: 'input',
      },
      messages: [],
      meta: { label: { id: 1070010, text: 'Verification code', type: 'info' } },
    },
    {
      type: 'input',
      group: 'code',
      attributes: {
        name: 'method',
        type: 'hidden',
        value: 'code',
        disabled: false,
        node_type: 'input',
      },
      messages: [],
      meta: { label: { id: 0, text: '', type: 'info' } },
    },
    {
      type: 'input',
      group: 'code',
      attributes: {
        name: 'method',
        type: 'submit',
        value: 'code',
        disabled: false,
        node_type: 'input',
      },
      messages: [],
      meta: { label: { id: 1070009, text: 'Continue', type: 'info' } },
    },
    {
      type: 'input',
      group: 'code',
      attributes: {
        name: 'email',
        type: 'submit',
        value: 'anna@example.com',
        disabled: false,
        node_type: 'input',
      },
      messages: [],
      meta: { label: { id: 1070008, text: 'Resend code', type: 'info' } },
    },
  ])
})

test('setting up an app, written out', () => {
  const [picture, key, code] = ui.totpSetup(say, {
    qr: 'data:image/png;base64,iVBORw0KGgo=',
    secret: 'JBSWY3DPEHPK3PXP',
  })
  expect(picture).toStrictEqual({
    type: 'img',
    group: 'totp',
    attributes: {
      id: 'totp_qr',
      name: 'totp_qr',
      type: 'img',
      value: 'data:image/png;base64,iVBORw0KGgo=',
      src: 'data:image/png;base64,iVBORw0KGgo=',
      width: 256,
      height: 256,
      node_type: 'img',
    },
    messages: [],
    meta: {
      label: { id: 1050005, text: 'Scan this QR code with your authenticator app', type: 'info' },
    },
  })
  expect(key).toStrictEqual({
    type: 'text',
    group: 'totp',
    attributes: {
      id: 'totp_secret_key',
      name: 'totp_secret_key',
      type: 'text',
      value: 'JBSWY3DPEHPK3PXP',
      text: {
        id: 1050006,
        text: 'JBSWY3DPEHPK3PXP',
        type: 'info',
        context: { secret: 'JBSWY3DPEHPK3PXP' },
      },
      node_type: 'text',
    },
    messages: [],
    meta: { label: { id: 1050017, text: 'Or enter this setup key in the app', type: 'info' } },
  })
  expect(code?.attributes).toStrictEqual({
    name: 'totp_code',
    type: 'text',
    value: '',
    required: true,
    autocomplete: 'one-time-code',
    disabled: false,
    node_type: 'input',
  })
})

test('shown recovery codes are in the text and, one by one, in its context', () => {
  const codes = Array.from({ length: 50 }, (_, index) => `abcd-efgh-${index}`)
  const [node] = ui.lookupShown(say, { codes })
  expect(node?.attributes).toStrictEqual({
    id: 'lookup_secret_codes',
    name: 'lookup_secret_codes',
    type: 'text',
    value: codes.join(', '),
    text: {
      id: 1050015,
      text: codes.join(', '),
      type: 'info',
      context: {
        secrets: codes.map((secret) => ({
          id: 1050009,
          text: secret,
          type: 'info',
          context: { secret },
        })),
      },
    },
    node_type: 'text',
  })
})

test('a provider is sent by its identifier and shown by its name', () => {
  const [button] = ui.socialButtons(say, 'registration', ['github'])
  expect(button).toMatchObject({
    attributes: { name: 'provider', type: 'submit', value: 'github' },
    meta: {
      label: {
        id: 1040002,
        text: 'Sign up with GitHub',
        context: { provider: 'GitHub', provider_id: 'github' },
      },
    },
  })
})

test('without providers there is no button', () => {
  expect(ui.socialButtons(say, 'login', [])).toEqual([])
})

test('the way on after a verification is a link', () => {
  expect(ui.verificationDone(say, { continueTo: 'https://app.example.com/in?a=b' })).toStrictEqual([
    {
      type: 'a',
      group: 'code',
      attributes: {
        id: 'continue',
        name: 'continue',
        type: 'a',
        value: 'https://app.example.com/in?a=b',
        href: 'https://app.example.com/in?a=b',
        title: { id: 1070009, text: 'Continue', type: 'info' },
        node_type: 'a',
      },
      messages: [],
      meta: { label: { id: 1070009, text: 'Continue', type: 'info' } },
    },
  ])
})

const attributesOf = (nodes: Node[], name: string) =>
  nodes.find(({ attributes }) => attributes.node_type === 'input' && attributes.name === name)
    ?.attributes

test.each([
  ['current-password', ui.passwordLogin(say, { isRefresh: false }), 'password'],
  ['new-password', ui.passwordRegistration(say), 'password'],
  ['new-password', ui.passwordSettings(say), 'password'],
  ['email', [ui.emailTrait(say)], 'traits.email'],
  ['email', ui.profileSettings(say, { email: 'a@b.c' }), 'traits.email'],
  ['email', ui.recoveryStart(say), 'email'],
  ['email', ui.verificationStart(say), 'email'],
  ['one-time-code', ui.codeLoginSent(say, { identifier: 'a@b.c' }), 'code'],
  ['one-time-code', ui.codeRegistrationSent(say, { email: 'a@b.c' }), 'code'],
  ['one-time-code', ui.verificationCodeSent(say, { email: 'a@b.c' }), 'code'],
  ['one-time-code', ui.totpLogin(say), 'totp_code'],
])('browsers are told to fill in %s (%#)', (autocomplete, nodes, name) => {
  expect(attributesOf(nodes, name)).toMatchObject({ autocomplete })
})

test.each([
  ['the identifier', [ui.identifierNode(say, { value: 'a@b.c' })], 'identifier'],
  ['a hidden identifier', ui.codeLoginSent(say, { identifier: 'a@b.c' }), 'identifier'],
  ['the address', [ui.emailTrait(say, { value: 'a@b.c' })], 'traits.email'],
  ['a hidden address', ui.codeRegistrationSent(say, { email: 'a@b.c' }), 'traits.email'],
  ['the address of the profile', ui.profileSettings(say, { email: 'a@b.c' }), 'traits.email'],
  ['the address to recover', ui.recoveryStart(say, { email: 'a@b.c' }), 'email'],
  ['the address to confirm', ui.verificationStart(say, { email: 'a@b.c' }), 'email'],
  ['the address for another code', ui.verificationCodeSent(say, { email: 'a@b.c' }), 'email'],
])('%s is filled in where it is known', (_, nodes, name) => {
  expect(attributesOf(nodes, name)).toMatchObject({ value: 'a@b.c' })
})

test('a code that a link brought is filled in, and without one the field is empty', () => {
  const sent = (code?: string) => ui.verificationCodeSent(say, { email: 'a@b.c', code })
  expect(attributesOf(sent('000042'), 'code')).toMatchObject({ value: '000042' })
  expect(attributesOf(sent(), 'code')).toMatchObject({ value: '' })
})

test('a password is never filled in', () => {
  for (const nodes of [
    ui.passwordLogin(say, { isRefresh: true }),
    ui.passwordRegistration(say),
    ui.passwordSettings(say),
  ])
    expect(attributesOf(nodes, 'password')).toMatchObject({ value: '' })
})
