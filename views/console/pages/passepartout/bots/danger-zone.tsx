import type { Bot } from '../../../../../src/engines/passepartout/index.ts'
import type { Environment } from '../../../../../src/platform/engines.ts'
import { Confirm, DangerZone } from '../../../confirm.tsx'
import { type BotRights, pathOf } from './state.tsx'

/** Disables or removes a bot. */
export const BotDangerZone = (of: {
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
            title: 'Disable bot',
            text: "Users can't sign in with the bot until you enable it again.",
            control: (
              <Confirm
                id="disable"
                verb="Disable bot"
                question="Disable this bot?"
                consequence="Stops immediately; pending sign-ins fail."
                action={pathOf(base, environment, 'disable')}
              />
            ),
          },
        ]
      : []),
    ...(rights.mayRemove && environment === 'live'
      ? [
          {
            title: 'Remove bot',
            text: 'Deletes the token. You can then use the bot elsewhere. Users keep their accounts.',
            control: (
              <Confirm
                id="remove"
                verb="Remove bot"
                question="Remove this bot?"
                consequence="Users can't sign in with it anymore. To use it again, you need its token."
                action={pathOf(base, environment, 'remove')}
              />
            ),
          },
        ]
      : []),
  ]
  return items.length === 0 ? null : <DangerZone items={items} />
}
