package main

func Example() {
	main()
	// Output:
	// btree:
	//   sensor = "a" AND taken = "2026-01-02 03:04:00"                 1 items, 0 KB;
	//   sensor = "a" AND taken < "2026-01-02 03:04:00"                 1624 items, 386 KB;
	//   sensor = "a" AND taken <= "2026-01-02 03:04:00"                1625 items, 386 KB;
	//   sensor = "a" AND taken > "2026-01-02 03:04:00"                 4406 items, 1048 KB; 4406 items, 1048 KB; 1563 items, 371 KB;
	//   sensor = "a" AND taken >= "2026-01-02 03:04:00"                4406 items, 1048 KB; 4406 items, 1048 KB; 1564 items, 372 KB;
	//   sensor = "a" AND taken BETWEEN "2026-01-02 03:04:00" AND "2026-01-05" 4136 items, 984 KB;
	//   sensor = "a" AND begins_with(taken, "2026-01-0")               4406 items, 1048 KB; 4406 items, 1048 KB; 3188 items, 758 KB;
	//   sensor = "a" AND taken = -3.5                                  1 items, 0 KB;
	//   sensor = "a" AND taken < -3.5                                  997 items, 223 KB;
	//   sensor = "a" AND taken <= -3.5                                 998 items, 223 KB;
	//   sensor = "a" AND taken > -3.5                                  4703 items, 1048 KB; 4703 items, 1048 KB; 1596 items, 356 KB;
	//   sensor = "a" AND taken >= -3.5                                 4703 items, 1048 KB; 4703 items, 1048 KB; 1597 items, 357 KB;
	//   sensor = "a" AND taken BETWEEN -3.5 AND 1000                   1003 items, 223 KB;
	//   sensor = "a" AND taken = 0x00ff                                1 items, 0 KB;
	//   sensor = "a" AND taken < 0x00ff                                255 items, 56 KB;
	//   sensor = "a" AND taken <= 0x00ff                               256 items, 56 KB;
	//   sensor = "a" AND taken > 0x00ff                                4745 items, 1048 KB; 4745 items, 1048 KB; 2254 items, 498 KB;
	//   sensor = "a" AND taken >= 0x00ff                               4745 items, 1048 KB; 4745 items, 1048 KB; 2255 items, 498 KB;
	//   sensor = "a" AND taken BETWEEN 0x00ff AND 0x01                 1 items, 0 KB;
	//   sensor = "a" AND begins_with(taken, 0x00)                      256 items, 56 KB;
	// memory: the same
	// disk: the same
}
