import type { Page } from '../../page.tsx'
import { botPage } from './bot.tsx'
import { loginPage } from './login.tsx'
import { loginList } from './logins.tsx'
import { messengerUser } from './user.tsx'
import { messengerUsers } from './users.tsx'

export const messengerLoginPages: readonly Page[] = [
  botPage,
  loginList,
  messengerUsers,
  messengerUser,
  loginPage,
]
