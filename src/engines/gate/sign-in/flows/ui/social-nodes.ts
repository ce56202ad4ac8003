import type { AnyProvider } from '../../../../../config/index.ts'
import type { Node } from '../../model.ts'
import { submit } from './builders.ts'
import type { MessageId, Say } from './messages.ts'
import { aboutProvider } from './providers.ts'

const LABELS = { login: 1010002, registration: 1040002 } as const

/** A button for each provider. */
export const socialButtons = (
  say: Say,
  kind: 'login' | 'registration',
  providers: readonly AnyProvider[],
): Node[] => providers.map((provider) => providerButton(say, 'provider', provider, LABELS[kind]))

/** Buttons to connect more accounts, and to disconnect any but the last sign-in method. */
export const socialSettings = (
  say: Say,
  { unlinked, removable }: { unlinked: readonly AnyProvider[]; removable: readonly AnyProvider[] },
): Node[] => [
  ...unlinked.map((provider) => providerButton(say, 'link', provider, 1050002)),
  ...removable.map((provider) => providerButton(say, 'unlink', provider, 1050003)),
]

const providerButton = (say: Say, name: string, provider: AnyProvider, label: MessageId) =>
  submit('oidc', name, provider, say(label, aboutProvider(provider)))
