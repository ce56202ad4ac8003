import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import * as ui from '../../../../../../src/engines/gate/sign-in/flows/ui/index.ts'
import { Node } from '../../../../../../src/engines/gate/sign-in/model.ts'

const say = ui.createSay('en')
const EMAIL = 'a@b.c'

/** A node in one line: group, type, name=value, label, and its other attributes. */
function written({ type, group, attributes, meta }: Node): string {
  if (attributes.node_type !== 'input')
    return `${group} ${type} ${attributes.name} ${meta.label.id}`
  const { node_type: _, disabled, name, type: inputType, value, ...others } = attributes
  expect(disabled).toBe(false)
  const rest = Object.entries(others).map(([key, other]) =>
    other === true ? key : `${key}=${other}`,
  )
  const nameAndValue = value === '' ? name : `${name}=${value}`
  return [group, inputType, nameAndValue, meta.label.id, ...rest.sort()].join(' ')
}

const FORMS: Record<string, (say: ui.Say) => Node[]> = {
  'every flow': () => [ui.csrfNode('t')],
  identifier: (say) => [
    ui.identifierNode(say),
    ui.identifierNode(say, { value: EMAIL, isHidden: true }),
  ],
  'login by password': (say) => ui.passwordLogin(say, { isRefresh: false }),
  'login by password, again': (say) => ui.passwordLogin(say, { isRefresh: true }),
  'login by code': ui.codeLogin,
  'login by code, sent': (say) => ui.codeLoginSent(say, { identifier: EMAIL }),
  'login by provider': (say) => ui.socialButtons(say, 'login', ['github', 'google']),
  'login without providers': (say) => ui.socialButtons(say, 'login', []),
  'login by authenticator': ui.totpLogin,
  'login by recovery code': ui.lookupLogin,
  address: (say) => [ui.emailTrait(say), ui.emailTrait(say, { value: EMAIL })],
  'registration by password': ui.passwordRegistration,
  'registration by code': ui.codeRegistration,
  'registration by code, sent': (say) => ui.codeRegistrationSent(say, { email: EMAIL }),
  'registration by provider': (say) => ui.socialButtons(say, 'registration', ['apple']),
  recovery: (say) => ui.recoveryStart(say, { email: EMAIL }),
  'recovery, sent': (say) => ui.recoveryCodeSent(say, { email: EMAIL }),
  'recovery, by link': (say) => ui.recoveryCodeSent(say, { email: EMAIL, code: '000042' }),
  verification: (say) => ui.verificationStart(say),
  'verification, sent': (say) => ui.verificationCodeSent(say, { email: EMAIL }),
  'verification, by link': (say) => ui.verificationCodeSent(say, { email: EMAIL, code: '000042' }),
  'verification, done': (say) => ui.verificationDone(say, { continueTo: 'https://a.example/' }),
  'verification, done without an app': (say) => ui.verificationDone(say),
  profile: (say) => ui.profileSettings(say, { email: EMAIL }),
  password: ui.passwordSettings,
  providers: (say) =>
    ui.socialSettings(say, { unlinked: ['github', 'apple'], removable: ['slack'] }),
  'no authenticator': (say) =>
    ui.totpSetup(say, { qr: 'data:image/png;base64,', secret: 'JBSWY3DP' }),
  'an authenticator': ui.totpSet,
  'no recovery codes': ui.lookupNone,
  'recovery codes': ui.lookupSet,
  'recovery codes, shown': (say) => ui.lookupShown(say, { codes: ['abcd-1234'] }),
}

const WRITTEN = `
every flow
  default hidden csrf_token=t 0 required
identifier
  default text identifier 1070002 autocomplete=username required
  default hidden identifier=a@b.c 1070002 required
login by password
  password password password 1070001 autocomplete=current-password required
  password submit method=password 1010022
login by password, again
  password password password 1070001 autocomplete=current-password required
  password submit method=password 1010001
login by code
  code submit method=code 1010015
login by code, sent
  default hidden identifier=a@b.c 1070002 required
  code text code 1070013 autocomplete=one-time-code required
  code hidden method=code 0
  code submit method=code 1070009
  code submit resend=code 1070008
login by provider
  oidc submit provider=github 1010002
  oidc submit provider=google 1010002
login without providers
login by authenticator
  totp text totp_code 1010006 autocomplete=one-time-code required
  totp submit method=totp 1010009
login by recovery code
  lookup_secret text lookup_secret 1010007 required
  lookup_secret submit method=lookup_secret 1010010
address
  default email traits.email 1070002 autocomplete=email required
  default email traits.email=a@b.c 1070002 autocomplete=email required
registration by password
  password password password 1070001 autocomplete=new-password required
  password submit method=password 1040001
registration by code
  code submit method=code 1040006
registration by code, sent
  default hidden traits.email=a@b.c 1070002 required
  code text code 1070012 autocomplete=one-time-code required
  code hidden method=code 0
  code submit method=code 1070009
  code submit resend=code 1070008
registration by provider
  oidc submit provider=apple 1040002
recovery
  code email email=a@b.c 1070007 autocomplete=email required
  code submit method=code 1070009
recovery, sent
  code text code 1070010 autocomplete=one-time-code maxlength=6 pattern=[0-9]+ required
  code hidden method=code 0
  code submit method=code 1070009
  code submit email=a@b.c 1070008
recovery, by link
  code text code=000042 1070010 autocomplete=one-time-code maxlength=6 pattern=[0-9]+ required
  code hidden method=code 0
  code submit method=code 1070009
  code submit email=a@b.c 1070008
verification
  code email email 1070007 autocomplete=email required
  code submit method=code 1070009
verification, sent
  code text code 1070011 autocomplete=one-time-code required
  code hidden method=code 0
  code submit method=code 1070009
  code submit email=a@b.c 1070008
verification, by link
  code text code=000042 1070011 autocomplete=one-time-code required
  code hidden method=code 0
  code submit method=code 1070009
  code submit email=a@b.c 1070008
verification, done
  code a continue 1070009
verification, done without an app
profile
  profile email traits.email=a@b.c 1070002 autocomplete=email required
  profile submit method=profile 1070003
password
  password password password 1070001 autocomplete=new-password required
  password submit method=password 1070003
providers
  oidc submit link=github 1050002
  oidc submit link=apple 1050002
  oidc submit unlink=slack 1050003
no authenticator
  totp img totp_qr 1050005
  totp text totp_secret_key 1050017
  totp text totp_code 1070006 autocomplete=one-time-code required
  totp submit method=totp 1070003
an authenticator
  totp submit totp_unlink=true 1050004 required
no recovery codes
  lookup_secret submit lookup_secret_regenerate=true 1050008
recovery codes
  lookup_secret submit lookup_secret_regenerate=true 1050008
  lookup_secret submit lookup_secret_disable=true 1050016
recovery codes, shown
  lookup_secret text lookup_secret_codes 1050010
  lookup_secret submit lookup_secret_confirm=true 1050011
`

const inEnglish = Object.values(FORMS).flatMap((nodesIn) => nodesIn(say))
const inGerman = Object.values(FORMS).flatMap((nodesIn) => nodesIn(ui.createSay('de')))

test('Forms have these nodes in this order', () => {
  const forms = Object.entries(FORMS).map(([name, nodesIn]) => [name, ...nodesIn(say).map(written)])
  expect(`\n${forms.map((lines) => lines.join('\n  ')).join('\n')}\n`).toBe(WRITTEN)
})

test('Nodes in German have other labels, and are the same otherwise', () => {
  expect(inGerman.map(written)).toEqual(inEnglish.map(written))
  for (const [index, { meta }] of inGerman.entries())
    if (meta.label.id !== 0) expect(meta.label.text).not.toBe(inEnglish[index]?.meta.label.text)
})

test('Nodes are as the API document and its clients expect them', () => {
  for (const node of inEnglish) {
    expect([...Value.Errors(Node, node)]).toEqual([])
    expect(node.attributes.node_type).toBe(node.type)
    expect(node.attributes.value).toBeString()
    expect(Object.values(node.attributes)).not.toContain(undefined)
    expect(node.messages).toEqual([])
    expect(node.meta.label.text !== '').toBe(node.meta.label.id !== 0)
  }
})

test('An input is written out like this', () => {
  expect(ui.identifierNode(say)).toStrictEqual({
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
    meta: {
      label: {
        id: 1070002,
        text: 'Email address',
        type: 'info',
        context: { title: 'Email address', name: 'traits.email' },
      },
    },
  })
})

test('The setup of an authenticator has a picture and a text', () => {
  const [qr, secret] = ['data:image/png;base64,iVBORw0KGgo=', 'JBSWY3DPEHPK3PXP']
  const [picture, key] = ui.totpSetup(say, { qr, secret })
  expect(picture?.attributes).toStrictEqual({
    id: 'totp_qr',
    name: 'totp_qr',
    type: 'img',
    value: qr,
    src: qr,
    width: 256,
    height: 256,
    node_type: 'img',
  })
  expect(key?.attributes).toStrictEqual({
    id: 'totp_secret_key',
    name: 'totp_secret_key',
    type: 'text',
    value: secret,
    text: { id: 1050006, text: secret, type: 'info', context: { secret } },
    node_type: 'text',
  })
})

test('Recovery codes are in the text and, one by one, in its context', () => {
  const codes = Array.from({ length: 50 }, (_, index) => `abcd-efgh-${index}`)
  const [node] = ui.lookupShown(say, { codes })
  const text = codes.join(', ')
  const secrets = codes.map((secret) => say(1050009, { secret }))
  expect(node?.attributes).toStrictEqual({
    id: 'lookup_secret_codes',
    name: 'lookup_secret_codes',
    type: 'text',
    value: text,
    text: { id: 1050015, text, type: 'info', context: { secrets } },
    node_type: 'text',
  })
})

test('The way on after a verification is a link', () => {
  const continueTo = 'https://app.example.com/in?a=b'
  const [link] = ui.verificationDone(say, { continueTo })
  expect(link?.attributes).toStrictEqual({
    id: 'continue',
    name: 'continue',
    type: 'a',
    value: continueTo,
    href: continueTo,
    title: { id: 1070009, text: 'Continue', type: 'info' },
    node_type: 'a',
  })
})

test('The label of a provider has its name and its identifier', () => {
  const [button] = ui.socialButtons(say, 'registration', ['github'])
  expect(button?.meta.label).toEqual({
    id: 1040002,
    type: 'info',
    text: 'Sign up with GitHub',
    context: { provider: 'GitHub', provider_id: 'github' },
  })
})

describe('A message', () => {
  const FORM = [ui.emailTrait(say, { value: 'anna' }), ...ui.passwordRegistration(say)]

  test('is added to the field of that name, after others, in a copy', () => {
    const before = structuredClone(FORM)
    const once = ui.withMessage(FORM, 'password', say(4000031)) ?? []
    const twice = ui.withMessage(once, 'password', say(4000032, { min_length: 8 }))
    expect(twice?.map(({ messages }) => messages.map(({ id }) => id))).toEqual([
      [],
      [4000031, 4000032],
      [],
    ])
    expect(twice?.map(({ attributes }) => attributes)).toEqual(FORM.map((node) => node.attributes))
    expect(FORM).toEqual(before)
  })

  test.each([
    ['a field that the form lacks', FORM, 'code'],
    ['a field without a name', FORM, ''],
    ['the name of something inherited', FORM, 'constructor'],
    ['a form without nodes', [], 'password'],
    ['a link', ui.verificationDone(say, { continueTo: 'https://a.example/' }), 'continue'],
    ['a hidden field', ui.codeLoginSent(say, { identifier: EMAIL }), 'identifier'],
    ['a resend button', ui.recoveryCodeSent(say, { email: EMAIL }), 'email'],
    ['one of many buttons', ui.socialButtons(say, 'login', ['github', 'google']), 'provider'],
  ])('has no place at %s', (_, nodes, field) => {
    expect(ui.withMessage(nodes, field, say(4000002, { property: field }))).toBeUndefined()
  })
})
