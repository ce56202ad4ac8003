import type { Bot } from '../../../../../src/engines/passepartout/index.ts'
import type { Environment } from '../../../../../src/platform/engines.ts'
import { Confirm, DangerZone } from '../../../confirm.tsx'
import { type BotRights, pathOf } from './state.tsx'

/** What silences a bot, for a while or for good. */
export const Endings = (of: {
  base: string
  environment: Environment
  bot: Bot
  rights: BotRights
}) => {
  const { base, environment, bot, rights } = of
  const items = [
    ...(rights.mayChange && bot.enabled
      ? [
          {
            title: 'Disable it',
            text: 'Nobody signs in through it until it is enabled again.',
            control: (
              <Confirm
                id="disable"
                verb="Disable bot"
                question="Disable this bot?"
                consequence="It falls silent at once, and sign-ins that wait come to nothing."
                action={pathOf(base, environment, 'disable')}
              />
            ),
          },
        ]
      : []),
    ...(rights.mayRemove && environment === 'live'
      ? [
          {
            title: 'Remove it',
            text: 'Forgets the token, so that the bot can be used elsewhere. People stay who they are.',
            control: (
              <Confirm
                id="remove"
                verb="Remove bot"
                question="Remove this bot?"
                consequence="Nobody signs in through it any more. To use it again takes its token."
                action={pathOf(base, environment, 'remove')}
              />
            ),
          },
        ]
      : []),
  ]
  return items.length === 0 ? null : <DangerZone items={items} />
}
