import type { Page } from '../../page.tsx'
import { botPage } from './bot.tsx'
import { botList } from './bots.tsx'
import { loginPage } from './login.tsx'
import { loginList } from './logins.tsx'
import { messengerUser } from './user.tsx'
import { messengerUsers } from './users.tsx'

export const messengerLoginPages: readonly Page[] = [
  botList,
  botPage,
  loginList,
  messengerUsers,
  messengerUser,
  loginPage,
]
