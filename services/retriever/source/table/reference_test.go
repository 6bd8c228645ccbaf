package table_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/source/table"
)

func TestReferences(t *testing.T) {
	const (
		employees   = "id,name,department_id,manager_id\n1,Ann,10,\n2,Bob,10,1.0\n3,Cid,20,1\n4,Dee,20,3\n"
		departments = "id,name,town\n10,Sales,Bonn\n20,Research,Rome\n30,Support,Bonn\n"
	)
	for name, c := range map[string]struct {
		files map[string]string
		// want is what columns refer to, keys the keys of the tables by their files.
		want, keys, warns []string
	}{
		"to another table by its name": {map[string]string{"employees.csv": employees, "departments.csv": departments},
			[]string{"departments.csv id department", "employees.csv department_id department",
				"employees.csv id employee", "employees.csv manager_id employee"},
			[]string{"departments.csv id name", "employees.csv id name"}, nil},
		"to rows of their own table": {map[string]string{"employees.csv": employees},
			[]string{"employees.csv id employee", "employees.csv manager_id employee"},
			[]string{"employees.csv id name"}, nil},
		"to the table of that name before their own": {map[string]string{"employees.csv": employees,
			"a-managers.csv": "id,name\n1,Eve\n3,Fay\n"},
			[]string{"a-managers.csv id manager", "employees.csv manager_id manager"},
			[]string{"a-managers.csv id name", "employees.csv name"}, nil},
		"by the end of a heading": {map[string]string{
			"teams.csv": "id,name,parent_team_id\n1,A,\n2,B,1\n", "games.csv": "day,home_team_id\nMay,1\nJune,2\n"},
			[]string{"games.csv home_team_id team", "teams.csv id team", "teams.csv parent_team_id team"},
			[]string{"games.csv day", "teams.csv id name"}, nil},
		"not to rows of their own table by their codes alone": {map[string]string{
			"users.csv": "id,name,team_id\n1,Ann,1\n2,Bob,1\n3,Cid,2\n"}, nil, []string{"users.csv name"}, nil},
		"to the one table that has the codes": {map[string]string{
			"people.csv": "id,name\n7,Ann\n8,Bob\n9,Cid\n", "cars.csv": "plate,ownerId\nB1,8\nC1,9\n"},
			[]string{"cars.csv ownerId person", "people.csv id person"},
			[]string{"cars.csv plate", "people.csv id name"}, nil},
		"to none, if several tables have them": {map[string]string{"people.csv": "id,name\n1,Ann\n2,Bob\n",
			"shops.csv": "id,name\n1,Foo\n2,Bar\n", "cars.csv": "plate,owner_id\nB1,1\nC1,2\n"}, nil,
			[]string{"cars.csv plate", "people.csv name", "shops.csv name"},
			[]string{`column "owner_id" may hold codes of several`}},
		"to none, if the table lacks codes": {map[string]string{"people.csv": "id,name\n1,Ann\n2,Bob\n",
			"cars.csv": "plate,person_id\nB1,1\nC1,4\nD1,5\n"}, nil,
			[]string{"cars.csv plate", "people.csv name"}, nil},
		"to none, if other columns have the names": {map[string]string{"employees.csv": employees,
			"departments.csv": "id,name,head\n10,Sales,Ann\n20,Research,Cid\n"},
			[]string{"departments.csv id department", "employees.csv department_id department"},
			[]string{"departments.csv id name", "employees.csv name"},
			[]string{`column "manager_id" holds codes of "employee", which other columns name by "name"`}},
		"to codes that are no numbers": {map[string]string{"courses.csv": "code,title,needs\nC1,Logic,\nC2,Sets,C1\n",
			"exams.csv": "exam,course_code\nJune,C1\nJuly,C2\n"},
			[]string{"courses.csv code course", "exams.csv course_code course"},
			[]string{"courses.csv code title", "exams.csv exam"}, nil},
		"to codes in capitals": {map[string]string{"wards.csv": "code,ward_name\nCARD,Hearts\nNEUR,Nerves\n",
			"nurses.csv": "name,ward_code\nAnn,CARD\nBob,CARD\n"},
			[]string{"nurses.csv ward_code ward", "wards.csv code ward"},
			[]string{"nurses.csv name", "wards.csv code ward_name"}, nil},
		"as a key, if the rows are the same": {map[string]string{"students.csv": "student_no,name\n51,Ann\n52,Bob\n",
			"members.csv": "club,student_no\nChess,51\nChess,52\n", "desks.csv": "desk,student_no\nA,51\n"},
			[]string{"desks.csv student_no student", "members.csv student_no student",
				"students.csv student_no student"},
			[]string{"desks.csv desk", "members.csv student_no", "students.csv student_no name"}, nil},
		"by headings in camel case": {map[string]string{"customers.csv": "customerId,name\n7,Ann\n8,Bob\n9,Cid\n",
			"orders.csv": "orderId,customerID,total\n1,7,10\n2,7,30\n"},
			[]string{"customers.csv customerId customer", "orders.csv customerID customer"},
			[]string{"customers.csv customerId name", "orders.csv orderId"}, nil},
		"to rows without names": {map[string]string{"orders.csv": "id,total\n1,10\n2,30\n",
			"items.csv": "item,order_id\nLamp,1\nDesk,2\n"},
			[]string{"items.csv order_id order", "orders.csv id order"},
			[]string{"items.csv item", "orders.csv id"}, nil},
		"to none, if numbers are no codes": {map[string]string{"people.csv": "id,name,age\n1,Ann,2\n2,Bob,1\n"}, nil,
			[]string{"people.csv name"}, nil},
		"to none of facts": {map[string]string{"facts.csv": "subject,relation,object\n1,parent_id,1\n",
			"people.csv": "id,name\n1,Ann\n"}, nil, []string{"facts.csv", "people.csv name"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var tables []*table.Proposal
			var files []string
			for file := range c.files {
				files = append(files, file)
			}
			slices.Sort(files)
			for _, file := range files {
				p, err := table.Propose(file, strings.NewReader(c.files[file]), 0, "")
				if err != nil {
					t.Fatal(err)
				}
				tables = append(tables, &p)
			}
			table.Refer(tables)
			var got, keys, warnings []string
			for i, p := range tables {
				for _, column := range p.Columns {
					if column.Reference != "" {
						got = append(got, files[i]+" "+column.Heading+" "+column.Reference)
					}
				}
				key := append([]string{files[i], p.Key}, p.Names...)
				keys = append(keys, strings.TrimSpace(strings.Join(key, " ")))
				warnings = append(warnings, p.Warnings...)
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) || !slices.Equal(keys, c.keys) || len(warnings) != len(c.warns) {
				t.Errorf("refers %q, keys %q, warns %q; want %q, %q, %q", got, keys, warnings, c.want, c.keys, c.warns)
			}
			for i, want := range c.warns {
				if i < len(warnings) && !strings.Contains(warnings[i], want) {
					t.Errorf("warns %q, want %q", warnings[i], want)
				}
			}
		})
	}
}
