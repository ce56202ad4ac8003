import type { Page } from '../../page.tsx'
import { userList } from './list.tsx'
import { newUser } from './new-user.tsx'
import { userPage } from './user.tsx'

export const userPages: readonly Page[] = [userList, newUser, userPage]
